import { Type } from 'typebox';
import type { Payment } from '../../store/payments/payments.ts';

/** The account and wallet that paid. Undefined while nobody has paid. An unknown icon is left out. */
export function viewBuyer({ buyerAccount, buyerName, buyerIcon }: Payment) {
  if (buyerAccount === null) return undefined;
  return {
    accountCaip10: buyerAccount,
    // Published wallets reject a buyer without a name.
    accountProviderName: buyerName ?? 'Wallet',
    ...(buyerIcon !== null && { accountProviderIcon: buyerIcon }),
  };
}

export const BuyerBody = Type.Object(
  {
    accountCaip10: Type.String({ description: 'The paying account, CAIP-10.' }),
    accountProviderName: Type.String({ description: 'The wallet.' }),
    accountProviderIcon: Type.Optional(Type.String({ description: 'The URL of its icon, if it has one.' })),
  },
  { title: 'Buyer', description: 'The payer, once known.' },
);
