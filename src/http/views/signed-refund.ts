import { type Static, Type } from 'typebox';
import { REFUND_WAITS } from '../../domain/refund.ts';
import type { ShownRefund } from '../../store/money/refunds.ts';
import type { Payment } from '../../store/payments/payments.ts';
import type { HttpDeps } from '../deps.ts';
import { namedEnum, nullable } from '../schemas.ts';
import { AmountBody, viewToken } from './amount.ts';
import { pageBrand } from './brand.ts';
import { AttemptBody, linkTransaction, TransactionBody, viewAttempt } from './payer-info.ts';
import { RefundBody, viewOwnRefund } from './refund.ts';

/** A refund for the holder of the merchant's account: everything that the account signs for, and nothing else of the shop. */
export async function viewForSigner(
  deps: HttpDeps,
  payment: Payment,
  refund: ShownRefund,
): Promise<Static<typeof SignerRefundBody>> {
  const { config } = deps;
  const { network, asset, fee, merchantAccount, transactionHash } = refund;
  const { refundId, status, amount, destination, waitingFor = null } = viewOwnRefund(config, payment, refund);
  const [merchant, attempt] = await Promise.all([
    deps.merchants.get(refund.merchantId),
    status === 'sending' ? viewAttempt(deps, refundId) : null,
  ]);
  return {
    refundId,
    status,
    amount,
    fee: fee === '0' ? null : viewToken(config, asset, fee),
    isFeeReturned: config.signedRefundFees === 'return',
    destination,
    account: merchantAccount === null ? null : `${network}:${merchantAccount}`,
    merchant: {
      name: merchant?.name ?? '',
      iconUrl: pageBrand(config, merchant).logoUrl,
    },
    waitingFor: waitingFor === null ? null : waitingFor.what,
    transaction: transactionHash === null ? null : linkTransaction(deps, network, transactionHash),
    attempt,
  };
}

export const SignerRefundBody = Type.Object(
  {
    refundId: RefundBody.properties.refundId,
    status: RefundBody.properties.status,
    amount: { ...AmountBody, description: 'The amount that the account pays: all of the refund.' },
    fee: nullable({
      ...AmountBody,
      description: 'The part of the amount that was the operator’s fee. Null if there was none.',
    }),
    isFeeReturned: Type.Boolean({
      description:
        'True if the operator’s float returns the fee to the merchant’s float; false if the operator keeps it.',
    }),
    destination: RefundBody.properties.destination,
    account: nullable(
      Type.String({ description: 'The account that received the payment, CAIP-10. Only its signature counts.' }),
    ),
    merchant: Type.Object({ name: Type.String(), iconUrl: nullable(Type.String()) }, { title: 'PayerMerchant' }),
    waitingFor: nullable(
      namedEnum(
        'RefundWaitReason',
        REFUND_WAITS,
        '`merchant_signature` while the account can sign. The others are those of the refund.',
      ),
    ),
    transaction: nullable({ ...TransactionBody, description: 'The transfer, once it is final.' }),
    attempt: nullable({ ...AttemptBody, description: 'Why the signature could not be carried out so far.' }),
  },
  { title: 'SignableRefund', description: 'The refund.' },
);
