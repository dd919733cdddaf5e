import { addressOf } from '../shared/text.ts';
import type { Payment, Receipt, ReceiptTransfer } from './api-types.ts';

/** An account through which a payment's money passed, and the units that reached this account. */
export interface Stop {
  readonly who: 'payer' | 'collector' | 'deposit' | 'held' | 'merchant' | 'fee';
  readonly account: string;
  /** The units that reached the account. Undefined for the payer's account. */
  readonly units?: bigint;
}

interface PaidReceipt {
  readonly receipt: Pick<Receipt, 'amount' | 'fee' | 'payer' | 'collector' | 'recipient' | 'feeAccount'> & {
    readonly transfers?: readonly Pick<ReceiptTransfer, 'sender'>[];
    /** The final sweeps of the deposit address. Empty while all money is still at the address. */
    readonly sweeps?: readonly object[];
  };
}

/**
 * The path of a payment's money: first the payer, last the account of the fee. The recipient is shown as the merchant only if the
 * settlement names the same account. Otherwise it is an account of the operator, and the merchant comes after it with the part that
 * is paid out. Before the sweep the path ends at the deposit address. Late money is not included.
 */
export function moneyPath(payment: Pick<Payment, 'info' | 'settlement'>, { receipt }: PaidReceipt): readonly Stop[] {
  const { amount, fee, payer, collector, recipient, feeAccount, transfers, sweeps } = receipt;
  const paid = BigInt(payment.info?.optionAmount.value ?? amount);
  // The receipt has the fee for the requested amount. At a deposit address a little less may have arrived, which lowers the fee in
  // proportion.
  const share = (paid * BigInt(fee)) / BigInt(amount);
  const net = paid - share;
  const sender = transfers === undefined ? payer : transfers.at(-1)?.sender;
  const { destination, amount: settled } = payment.settlement?.successful ?? {};
  const account = destination && addressOf(destination);
  const isDirect = account?.toLowerCase() === recipient.toLowerCase();
  const start: readonly Stop[] = [
    ...(sender === undefined ? [] : [{ who: 'payer', account: sender } as const]),
    transfers === undefined
      ? { who: 'collector', account: collector, units: paid }
      : { who: 'deposit', account: payer, units: paid },
  ];
  if (transfers !== undefined && !sweeps?.length && account === undefined) return start;
  return [
    ...start,
    { who: isDirect ? 'merchant' : 'held', account: recipient, units: net },
    ...(account === undefined || isDirect
      ? []
      : [{ who: 'merchant', account, units: BigInt(settled?.value ?? 0) } as const]),
    ...(share === 0n ? [] : [{ who: 'fee', account: feeAccount, units: share } as const]),
  ];
}
