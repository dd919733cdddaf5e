import { aboveFloors, type Change, takenBy } from '../../domain/book-floors.ts';
import { ACCOUNTS, acceptedEntry, type Entry, paidEntry, revertedEntry, unpaidEntry } from '../../domain/books.ts';
import { isByDeposit } from '../../domain/item.ts';
import { type RevivedItem, reviveItems } from '../../store/chain/due-items.ts';
import { endItems, type ItemEnd, insertItems, type NewItem, type StoredItem } from '../../store/chain/items.ts';
import { listOwnAccounts } from '../../store/chain/own-accounts.ts';
import { type BookItem, lockBookItems } from '../../store/money/book-items.ts';
import { insertEntries, lockBalances } from '../../store/money/books.ts';
import { findPaymentsOfLots, findSpendsOf, unholdItems } from '../../store/money/lots.ts';
import { markPositionsOutdated } from '../../store/money/positions.ts';
import { deleteLostLateMoney, type LateItem } from '../../store/money/unexpected-money.ts';
import { lockPayments } from '../../store/payments/payments.ts';
import { upsertAlert } from '../../store/plumbing/alerts.ts';
import type { Tx } from '../../store/plumbing/database.ts';

/** Writes book entries in the same database transaction as the change that they record. */
export async function recordEntries(tx: Tx, entries: readonly Entry[], at: Date): Promise<void> {
  if (entries.length === 0) return;
  const taken = takenBy(entries);
  // Entries that only increase balances need no lock and no further statement.
  const written = taken.length === 0 ? entries : await withFloors(tx, entries, taken);
  await insertEntries(tx, written, at);
  await reportMissing(tx, written, at);
}

async function withFloors(tx: Tx, entries: readonly Entry[], taken: readonly Change[]): Promise<Entry[]> {
  const balances = await lockBalances(
    tx,
    taken.map(({ network, account, asset }) => ({ network, account, asset })),
  );
  const isLacking = taken.some(({ account, asset, units }) => {
    const balance = balances.find((each) => each.account === account && each.asset === asset);
    return (balance?.units ?? 0n) + units < 0n;
  });
  if (!isLacking) return [...entries];
  const accounts = await listOwnAccounts(tx);
  const missing = (network: string) =>
    accounts.findLast((row) => row.network === network && row.kind === 'intermediate')?.address ?? network;
  return aboveFloors(entries, { balances, missing });
}

/**
 * Raises an alert if money was spent whose incoming transfer is no longer on the chain: an operator has to replace the money. The
 * solvency check freezes the asset, and clears the alert.
 */
async function reportMissing(tx: Tx, entries: readonly Entry[], at: Date): Promise<void> {
  const prefix = ACCOUNTS.missing('');
  for (const { kind, asset, subject, lines } of entries) {
    // A departure has an alert of its own.
    if (kind === 'departed') continue;
    const lack = lines.find(({ account, units }) => account.startsWith(prefix) && units < 0n);
    if (lack === undefined) continue;
    const message = `${-lack.units} of ${asset} were spent for ${subject}, and their arrival is not on the chain any more. The books show them in ${lack.account}.`;
    await upsertAlert(tx, { name: 'money_missing', subject: asset, message, lastSeen: at });
  }
}

/** Stores accepted items of payments, and their in-flight entries. An item that was stored earlier is booked already. */
export async function acceptItems(
  tx: Tx,
  items: readonly NewItem[],
  { merchantOf, at }: { merchantOf: (paymentId: string) => string; at: Date },
): Promise<void> {
  const isNew = new Set(await insertItems(tx, items, at));
  const entries = items
    // Money that passes through a deposit address is left out here, because it is booked when it arrives at the address.
    .filter(({ key, state, item }) => isNew.has(key) && state === 'due' && !isByDeposit(item.method))
    .map(({ key, item, isHeld = false }) => {
      const { network, asset, subject, amount, fee } = item;
      const merchantId = merchantOf(subject);
      return acceptedEntry({ network, asset, subject, reference: key, merchantId, amount, fee, isHeld });
    });
  await recordEntries(tx, entries, at);
}

/** Ends items of payments, and books the consequences. An item that is already paid keeps its entries unchanged. */
export async function closeItems(tx: Tx, ends: readonly ItemEnd[], at: Date): Promise<void> {
  const before = await lockBookItems(
    tx,
    ends.map(({ key }) => key),
  );
  await endItems(tx, ends, at);
  const ended = new Map(ends.map((end) => [end.key, end]));
  const entries = before.flatMap((item) => {
    const end = ended.get(item.key);
    return end === undefined ? [] : endEntries(item, end);
  });
  await recordEntries(tx, entries, at);
}

function endEntries(item: BookItem, { state, reason, proof }: ItemEnd): Entry[] {
  const wasInFlight = item.state === 'due' || item.state === 'sent';
  if (item.state === 'paid' || item.isDeposit) return [];
  if (state === 'paid') return [paidEntry(item, { wasInFlight, isExtra: reason === 'paid_after_end' }, proof)];
  // Only an item in the state `due` or `sent` is in flight in the books: an `offered` item is not yet, and an `unpaid` item no longer is.
  return wasInFlight ? [unpaidEntry(item, reason)] : [];
}

/**
 * Reverses the entries of paid items whose block left the chain, and deletes their lots and late money. If a part of a lot was spent,
 * the payment has a debt, which appears when its lots are computed again.
 */
export async function reopenItems(
  tx: Tx,
  items: readonly (Pick<StoredItem, 'key'> & LateItem)[],
  at: Date,
): Promise<RevivedItem[]> {
  if (items.length === 0) return [];
  const keys = items.map(({ key }) => key);
  const commitments = items.map(({ commitment }) => commitment);
  await lockPayments(tx, await findPaymentsOfLots(tx, commitments));
  const paid = (await lockBookItems(tx, keys)).filter(({ state, isDeposit }) => state === 'paid' && !isDeposit);
  const revived = await reviveItems(tx, keys);
  const entries = paid.map((item) =>
    revertedEntry(item, { isInFlight: item.hasSignature, isUnexpected: item.isUnexpected }),
  );
  // Every database transaction locks unexpected money before balances, to avoid deadlocks.
  await deleteLostLateMoney(tx, items);
  await recordEntries(tx, entries, at);
  const spends = await findSpendsOf(tx, await unholdItems(tx, commitments));
  await markPositionsOutdated(
    tx,
    spends.map(({ payment }) => payment),
    at,
  );
  return revived;
}
