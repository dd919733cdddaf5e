import { Type } from 'typebox';
import { visibleStatus } from '../../domain/payment.ts';
import { type Payment, stateOf } from '../../store/payments.ts';
import type { HttpDeps } from '../deps.ts';
import { nullable } from '../schemas.ts';
import { AmountBody, viewAmount } from './amount.ts';
import { logoUrl } from './icons.ts';
import { PaymentStatusField } from './payment.ts';

/** A payment as its payer sees it. */
export async function viewForPayer(deps: HttpDeps, payment: Payment) {
  const merchant = await deps.merchants.get(payment.merchantId);
  return {
    status: visibleStatus(stateOf(payment), deps.world.clock.nowMs()),
    amount: viewAmount(deps.config, payment.amountUnit, payment.amountValue, payment.amountDecimals),
    expiresAt: payment.expiresAt.getTime() / 1000,
    merchant: {
      name: merchant?.name ?? '',
      // Never the merchant's own URL: whoever shows that tells its server who is about to pay.
      iconUrl: merchant?.logoHash ? logoUrl(deps.config, merchant.logoHash) : null,
    },
    buyer: viewBuyer(payment),
  };
}

function viewBuyer({ buyerAccount, buyerName, buyerIcon }: Payment) {
  if (buyerAccount === null) return null;
  return { accountCaip10: buyerAccount, accountProviderName: buyerName ?? 'Wallet', accountProviderIcon: buyerIcon };
}

export const PayerInfoBody = Type.Object(
  {
    status: PaymentStatusField,
    amount: AmountBody,
    expiresAt: Type.Integer({ minimum: 0, description: 'Seconds since the epoch.' }),
    merchant: Type.Object({ name: Type.String(), iconUrl: nullable(Type.String()) }),
    buyer: Type.Unsafe<ReturnType<typeof viewBuyer>>({
      ...Type.Object({
        accountCaip10: Type.String(),
        accountProviderName: Type.String(),
        accountProviderIcon: nullable(Type.String()),
      }),
      type: ['object', 'null'],
    }),
  },
  { description: 'The payment, for the payer.' },
);
