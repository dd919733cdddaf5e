import { addressOf } from '../shared/text.ts';
import type { Payment, Receipt, ReceiptTransfer } from './api-types.ts';

/** An account that a payment's money passed, and the units that reached it. */
export interface Stop {
  readonly who: 'payer' | 'collector' | 'deposit' | 'held' | 'merchant' | 'fee';
  readonly account: string;
  /** Undefined for the first account. */
  readonly units?: bigint;
}

interface PaidReceipt {
  readonly receipt: Pick<Receipt, 'amount' | 'fee' | 'payer' | 'collector' | 'recipient' | 'feeAccount'> & {
    readonly transfers?: readonly Pick<ReceiptTransfer, 'sender'>[];
    /** Empty before the first final sweep: the money is at the address. */
    readonly sweeps?: readonly object[];
  };
}

/**
 * The path of a payment's money from the payer on, with the fee last. The last account is called the merchant's only if it received
 * the settlement: held money is on an account of the operator, and a part of it may be paid out. Money at a deposit address stays
 * there until the sweep, so the path ends there. Late money is not included.
 */
export function moneyPath(payment: Pick<Payment, 'info' | 'settlement'>, { receipt }: PaidReceipt): readonly Stop[] {
  const { amount, fee, payer, collector, recipient, feeAccount, transfers, sweeps } = receipt;
  const paid = BigInt(payment.info?.optionAmount.value ?? amount);
  // Money at a deposit address is divided in proportion to the requested amount, even if a little less arrived.
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
