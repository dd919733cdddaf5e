import { ChainUnavailableError } from '../../chains/chain.ts';
import { isSameAddress } from '../../domain/caip.ts';
import { paymentIdOf } from '../../domain/ids.ts';
import { deleteEvents, type StoredEvent } from '../../store/chain/chain-events.ts';
import { lockFreezes } from '../../store/parties/freezes.ts';
import { findPayments } from '../../store/payments/payments.ts';
import { hintedIds } from '../event-subject.ts';
import { hear, hearTransfers, sayings } from '../evidence.ts';
import { commandOfLeader } from '../lease.ts';
import { ownAccounts } from '../own-accounts.ts';
import { hasLeft, isMoved, provingAssets, type TakenMoney } from '../own-transfer.ts';
import { putFreeze } from '../parties/freeze.ts';
import { orUnknown, SHOWN, showings } from './prove-events.ts';
import type { WatchDeps, Watcher } from './watcher.ts';

/** The events that are proved in a round. The others wait for the next one: strangers can make any number of them. */
const MAX_PROVED = 50;

/** The fates of events without a stored item. All others are decided, and prove nothing. */
export interface StrangeEvents {
  /** The endpoints could not confirm or refute them yet. */
  readonly open: ReadonlySet<StoredEvent>;
  /** The tokens do not show the transfers that they claim. */
  readonly unproved: ReadonlySet<StoredEvent>;
}

/**
 * Looks for transfers out of our own accounts among final events without a stored item, and for refunds that our relayers
 * sent for a merchant's account. Only the holder of our keys can cause them. So the database was restored from an older
 * backup, or somebody else uses a key: payouts and refunds on the network are frozen. Two endpoints must show the event, and
 * the token itself must show that the money has left. An event that two endpoints deny was made up by the third.
 */
export async function noticeRestore(
  deps: WatchDeps,
  watcher: Watcher,
  unknown: readonly StoredEvent[],
): Promise<StrangeEvents> {
  const { chain, network, memory } = watcher;
  memory.disputes.delete('outgoing');
  const connected = deps.chains.find(network);
  const [open, unproved] = [new Set<StoredEvent>(), new Set<StoredEvent>()];
  if (connected === undefined) return { open, unproved };
  const own = await ownAccounts(deps, connected);
  const assets = new Set(provingAssets(network));
  const paid = unknown.filter((event) => event.type === 'paid' && assets.has(takenBy(event).asset));
  const left = paid.filter((event) => hasLeft(takenBy(event), own));
  const refunds = await refundsOf(
    deps,
    paid.filter((event) => !left.includes(event)),
  );
  const claims = [...left, ...refunds];
  const proved = claims.slice(0, MAX_PROVED);
  for (const event of claims.slice(MAX_PROVED)) open.add(event);
  const show = showings(chain, proved);
  const origins = new Map<string, ReturnType<typeof originOf>>();
  const isOurs = (event: StoredEvent, from: string) => left.includes(event) || isAmong(own, from);
  for (const event of proved) {
    const { transactionHash } = event;
    const { finding, statements } = await hear(chain, (witness) => show(witness, event));
    if (finding.is === 'disputed') {
      memory.disputes.set('outgoing', `Transaction ${transactionHash}: ${sayings(statements)}.`);
    }
    if (finding.is === 'open' || finding.is === 'disputed') {
      open.add(event);
      continue;
    }
    if (finding.value !== SHOWN) {
      await forgetForged(deps, watcher, event);
      continue;
    }
    const asked = origins.get(transactionHash) ?? originOf(watcher, transactionHash);
    origins.set(transactionHash, asked);
    const origin = await orUnknown(asked);
    if (origin === undefined) open.add(event);
    else if (!isMoved(takenBy(event), origin.transfers)) unproved.add(event);
    else if (isOurs(event, origin.from)) await freezeRestored(deps, watcher, event);
  }
  return { open, unproved };
}

function takenBy({ fields: { payer = '', asset = '', amount = '0' } }: StoredEvent): TakenMoney {
  return { payer, asset, amount: BigInt(amount) };
}

/** Events with the id of a refund of a known payment. A merchant can make such an event, but not with our key. */
async function refundsOf(deps: WatchDeps, events: readonly StoredEvent[]): Promise<StoredEvent[]> {
  const named = events.flatMap((event) => {
    const ids = hintedIds(deps, event.fields.subject ?? '').filter((id) => id.startsWith('rfnd_'));
    return ids.map((id) => ({ event, paymentId: paymentIdOf(id) }));
  });
  if (named.length === 0) return [];
  const payments = await findPayments(deps.db.sql, [...new Set(named.map(({ paymentId }) => paymentId))]);
  const known = new Set(payments.map((payment) => payment?.id));
  return [...new Set(named.flatMap(({ event, paymentId }) => (known.has(paymentId) ? [event] : [])))];
}

/** The sender and the transfers of a transaction, by the word of two endpoints. */
async function originOf({ chain, network }: Watcher, transactionHash: string) {
  const [{ transfers }, { finding }] = await Promise.all([
    hearTransfers(chain, transactionHash),
    hear(chain, async (witness) => (await witness.receipt(transactionHash))?.from),
  ]);
  if (finding.is !== 'agreed' && finding.is !== 'alone') {
    throw new ChainUnavailableError(network, `too few endpoints name the sender of ${transactionHash}`);
  }
  return { transfers, from: finding.value };
}

const isAmong = (own: readonly string[], account: string) => own.some((each) => isSameAddress(each, account));

/** It is not kept: a stored event would count as a transfer that the database has forgotten. */
async function forgetForged(deps: WatchDeps, { network, lease }: Watcher, event: StoredEvent): Promise<void> {
  const { transactionHash: transaction, blockNumber: block } = event;
  await commandOfLeader(deps, lease, (tx) => deleteEvents(tx, network, [event]));
  deps.log.error({ network, transaction, block }, 'a forged event: the endpoints do not show it');
}

async function freezeRestored(deps: WatchDeps, { network, lease }: Watcher, event: StoredEvent): Promise<void> {
  const { transactionHash, blockNumber } = event;
  const reason = `transaction ${transactionHash} in block ${blockNumber} was sent with a key of ours, and the database does not know it. Run till rebuild from that block or an earlier one`;
  await commandOfLeader(deps, lease, async (tx, since) => {
    await lockFreezes(tx);
    await putFreeze(tx, deps, { scope: 'restored', subject: network, reason, actor: 'watcher', since });
  });
}
