import { ACCOUNTS, type BookedItem, type Entry, type EntrySubject, entry, type Proof } from './books.ts';

/** The book entries of deposit addresses. They follow the money, and not the payment. */

/** Money has arrived at a deposit address by that final block. A reorg may take some of it back. */
export function depositedEntry(about: EntrySubject, units: bigint, block: number): Entry {
  const lines = [
    { account: ACCOUNTS.payer, units: -units },
    { account: ACCOUNTS.deposits, units },
  ];
  return entry('deposited', about, lines, { block });
}

/** An amount was swept to the merchant, or to the intermediate account for it, and its fee to the fee account. */
export interface SweptAmount {
  readonly amount: bigint;
  readonly fee: bigint;
}

export function sweptEntry(item: BookedItem, swept: SweptAmount, proof: Proof): Entry {
  return entry('swept', item, sweptLines(item, swept), proof);
}

/** A reorg removed a final sweep: the money is at the deposit address again. */
export function unsweptEntry(item: BookedItem, swept: SweptAmount): Entry {
  const lines = sweptLines(item, swept).map(({ account, units }) => ({ account, units: -units }));
  return entry('unswept', item, lines);
}

function sweptLines({ merchantId, isHeld }: BookedItem, { amount, fee }: SweptAmount) {
  return [
    { account: ACCOUNTS.deposits, units: -amount },
    { account: ACCOUNTS.fees, units: fee },
    { account: isHeld ? ACCOUNTS.payable(merchantId) : ACCOUNTS.settled(merchantId), units: amount - fee },
  ];
}
