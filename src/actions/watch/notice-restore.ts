import { ChainUnavailableError } from '../../chains/chain.ts';
import { paymentIdOf } from '../../domain/ids.ts';
import type { StoredEvent } from '../../store/chain/chain-events.ts';
import { lockFreezes } from '../../store/parties/freezes.ts';
import { findPayments } from '../../store/payments/payments.ts';
import { hintedIds } from '../event-subject.ts';
import { hearEvents } from '../evidence.ts';
import { commandOfLeader } from '../lease.ts';
import { ownAccounts } from '../own-accounts.ts';
import { putFreeze } from '../parties/freeze.ts';
import type { WatchDeps, Watcher } from './watcher.ts';

/**
 * Looks for transfers out of our own accounts among final events without a stored item, and for refunds that our relayers
 * sent for a merchant's account. Only the holder of our keys can cause them. So the database was restored from an older
 * backup, or somebody else uses a key: payouts and refunds on the network are frozen. Returns the events that endpoints could
 * not confirm or refute yet.
 */
export async function noticeRestore(
  deps: WatchDeps,
  watcher: Watcher,
  unknown: readonly StoredEvent[],
): Promise<readonly StoredEvent[]> {
  const connected = deps.chains.find(watcher.network);
  if (connected === undefined || unknown.length === 0) return [];
  const own = new Set((await ownAccounts(deps, connected)).map((account) => account.toLowerCase()));
  const paid = unknown.filter(({ type }) => type === 'paid');
  const left = paid.filter(({ fields }) => own.has(fields.payer?.toLowerCase() ?? ''));
  left.push(...(await sentForMerchants(deps, watcher, { own, events: paid.filter((event) => !left.includes(event)) })));
  const open: StoredEvent[] = [];
  for (const event of left) {
    const isShown = await isShownByEnough(watcher, event);
    if (isShown === undefined) open.push(event);
    if (isShown) await freezeRestored(deps, watcher, event);
  }
  return open;
}

/** Refunds of known payments that an account of ours has sent. A merchant can make such an event, but not with our key. */
async function sentForMerchants(
  deps: WatchDeps,
  { chain }: Watcher,
  { own, events }: { readonly own: ReadonlySet<string>; readonly events: readonly StoredEvent[] },
): Promise<StoredEvent[]> {
  const named = events.flatMap((event) => {
    const ids = hintedIds(deps, event.fields.subject ?? '').filter((id) => id.startsWith('rfnd_'));
    return ids.map((id) => ({ event, paymentId: paymentIdOf(id) }));
  });
  if (named.length === 0) return [];
  const payments = await findPayments(deps.db.sql, [...new Set(named.map(({ paymentId }) => paymentId))]);
  const known = new Set(payments.map((payment) => payment?.id));
  const sent: StoredEvent[] = [];
  for (const { event, paymentId } of named) {
    if (!known.has(paymentId)) continue;
    const transaction = await chain.sentTransaction(event.transactionHash);
    if (transaction !== undefined && own.has(transaction.from.toLowerCase())) sent.push(event);
  }
  return sent;
}

/** Undefined when the endpoints could not be asked. One endpoint alone must not stop payouts by a lie. */
async function isShownByEnough({ chain }: Watcher, event: StoredEvent): Promise<boolean | undefined> {
  try {
    const { agreed } = await hearEvents(chain, event.blockNumber, event.blockNumber);
    return agreed.some(
      ({ commitment, transactionHash }) => commitment === event.commitment && transactionHash === event.transactionHash,
    );
  } catch (error) {
    if (error instanceof ChainUnavailableError) return undefined;
    throw error;
  }
}

async function freezeRestored(deps: WatchDeps, { network, lease }: Watcher, event: StoredEvent): Promise<void> {
  const { transactionHash, blockNumber } = event;
  const reason = `transaction ${transactionHash} in block ${blockNumber} was sent with a key of ours, and the database does not know it. Run till rebuild from that block or an earlier one`;
  await commandOfLeader(deps, lease, async (tx, since) => {
    await lockFreezes(tx);
    await putFreeze(tx, deps, { scope: 'restored', subject: network, reason, actor: 'watcher', since });
  });
}
