import { ChainUnavailableError, unlessUnavailable } from '../../chains/chain-errors.ts';
import type { ChainEvent, Incoming, Receipt } from '../../chains/chain-reader.ts';
import { isSameAddress } from '../../domain/addresses/families.ts';
import { paymentIdOf, timeOfId } from '../../domain/ids.ts';
import { deleteEvents, findDecidedCommitments, type StoredEvent } from '../../store/chain/chain-events.ts';
import { findItemsOfEvents } from '../../store/chain/items.ts';
import { isRestoring, lockFreezes } from '../../store/parties/freezes.ts';
import { findPayments } from '../../store/payments/payments.ts';
import { hintedIds, type SubjectEvent, subjectOfEvent, termsOfEvent } from '../event-subject.ts';
import { askTransfers, askWitnesses, describeStatements } from '../evidence.ts';
import { commandOfLeader } from '../lease.ts';
import { ownAccounts } from '../own-accounts.ts';
import { hasLeft, isMoved, provingAssets, type TakenMoney } from '../own-transfer.ts';
import { putFreeze } from '../parties/freeze.ts';
import { SHOWN, showings } from './prove-events.ts';
import type { WatchDeps, Watcher } from './watcher.ts';

/**
 * The maximum number of events that one round checks with the endpoints. Strangers can cause any number of such events, so the rest waits
 * for the next round.
 */
const MAX_PROVED = 50;

/** Events without a stored item whose check has a special result. All other such events are marked as decided, without a problem. */
export interface StrangeEvents {
  /** Events that the endpoints could not confirm or refute yet. */
  readonly open: ReadonlySet<StoredEvent>;
  /** Events whose tokens do not show the claimed transfers. */
  readonly unproved: ReadonlySet<StoredEvent>;
}

/**
 * Searches final events without a stored item for a proof that the database was restored from an older backup. Proofs are transfers
 * out of our own accounts, refunds that our relayers sent for a merchant's account, and items with our seal that are always stored
 * before anybody can carry them out. Only the holder of our keys can cause them. A proof freezes the network as restored: nothing is
 * paid out, nothing expires by the clock, and no money counts as unexpected. Two endpoints must show the event, and the token itself
 * must show that the money has moved. An event that enough endpoints deny was forged by another endpoint, and is deleted.
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
  const { left, refunds, sealed } = await claimsAmong(deps, watcher, unknown, own);
  const claims = inTurn([...left, ...refunds, ...sealed], memory.turns.claims);
  const proved = claims.slice(0, MAX_PROVED);
  for (const event of claims.slice(MAX_PROVED)) open.add(event);
  memory.turns.claims = claims.length > MAX_PROVED ? memory.turns.claims + MAX_PROVED : 0;
  const show = showings(chain.reader, proved);
  const origins = new Map<string, Promise<Origin | undefined>>();
  const originBy = (hash: string) => {
    const asked = origins.get(hash) ?? unlessUnavailable(originOf(deps, watcher, hash));
    origins.set(hash, asked);
    return asked;
  };
  const provesRestore = (event: StoredEvent, origin: Origin) =>
    sealed.has(event)
      ? isForgotten(watcher, event, { origin, own })
      : left.has(event) || isAmong(network, own, origin.from);
  const forged: StoredEvent[] = [];
  const proofs: StoredEvent[] = [];
  // All events are checked at the same time. One after the other, each event of a stranger would delay the next round by a round trip.
  await Promise.all(
    proved.map(async (event) => {
      const { transactionHash } = event;
      const { finding, statements } = await askWitnesses(chain.reader, (witness) => show(witness, event));
      if (finding.is === 'disputed') {
        memory.disputes.set('outgoing', `Transaction ${transactionHash}: ${describeStatements(statements)}.`);
      }
      if (finding.is === 'open' || finding.is === 'disputed') {
        open.add(event);
        return;
      }
      if (finding.value !== SHOWN) {
        forged.push(event);
        return;
      }
      const origin = await originBy(transactionHash);
      if (origin === undefined) open.add(event);
      else if (!sealed.has(event) && !isMoved(takenBy(event), origin.transfers)) unproved.add(event);
      else if (provesRestore(event, origin)) proofs.push(event);
    }),
  );
  // One freeze suffices for all events. It names the block from which the operator rebuilds.
  const [proof] = proofs.sort((a, b) => a.blockNumber - b.blockNumber);
  if (proof !== undefined) await freezeRestored(deps, watcher, proof);
  await forgetForged(deps, watcher, forged);
  return { open, unproved };
}

/**
 * Rotates the claims (events that may prove a restore) by `turns`, so that claims about which the endpoints contradict each other do not
 * fill every round.
 */
function inTurn<T>(claims: readonly T[], turns: number): readonly T[] {
  const first = claims.length === 0 ? 0 : turns % claims.length;
  return [...claims.slice(first), ...claims.slice(0, first)];
}

/** Events without a stored item, which may prove that the database was restored. Each event is in at most one set. */
interface Claims {
  /** Transfers out of our own accounts. */
  readonly left: ReadonlySet<StoredEvent>;
  /** Events with the id of a refund of a known payment. */
  readonly refunds: ReadonlySet<StoredEvent>;
  /** Events whose seal may contain an id of ours. */
  readonly sealed: ReadonlySet<StoredEvent>;
}

async function claimsAmong(
  deps: WatchDeps,
  { network }: Watcher,
  unknown: readonly StoredEvent[],
  own: readonly string[],
): Promise<Claims> {
  const assets = new Set(provingAssets(deps.registry, network));
  const served = unknown.filter((event) => event.type !== 'refused' && assets.has(takenBy(event).asset));
  const paid = served.filter(({ type }) => type === 'paid');
  const left = new Set(paid.filter((event) => hasLeft(deps.registry, takenBy(event), own)));
  const refunds = new Set(
    await refundsOf(
      deps,
      paid.filter((event) => !left.has(event)),
    ),
  );
  const rest = served.filter((event) => !left.has(event) && !refunds.has(event) && hasPossibleId(deps, event));
  // A frozen network needs no further proof.
  if (rest.length === 0 || (await isRestoring(deps.db.sql, network))) return { left, refunds, sealed: new Set() };
  // Commitments that already have a decided event are left out. Anybody can sweep an address again, and an operator who has lifted
  // the freeze has examined its earlier sweeps.
  const commitments = [...new Set(rest.map(({ commitment }) => commitment))];
  const decided = await findDecidedCommitments(deps.db.sql, { network, commitments });
  return { left, refunds, sealed: new Set(rest.filter(({ commitment }) => !decided.has(commitment))) };
}

/** The maximum age of ids that can prove a restore. */
const MAX_AGE_MS = 2 * 365 * 86_400_000;

/**
 * True if the first half of the seal may be an id of ours: an id contains its time of creation, which must lie in the last two
 * years. This refuses nearly all items of other gateways with the same contracts, without a request to the chain. The ids of payouts
 * and returns are hashes without a time. Their money leaves our own accounts, so their events are found by the account, in `left`.
 */
function hasPossibleId(deps: WatchDeps, { fields: { subject = '', amount = '0' } }: StoredEvent): boolean {
  const nowMs = deps.world.clock.nowMs();
  const isPossible = (id: string) => timeOfId(id) <= nowMs && timeOfId(id) > nowMs - MAX_AGE_MS;
  return BigInt(amount) > 0n && hintedIds(deps, subject).some(isPossible);
}

function takenBy({ fields: { payer = '', asset = '', amount = '0' } }: StoredEvent): TakenMoney {
  return { payer, asset, amount: BigInt(amount) };
}

/** Events with the id of a refund of a known payment. A merchant can cause such an event, too, but not through our relayers. */
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

/** A transaction, as two endpoints report it. */
interface Origin {
  readonly from: string;
  readonly transfers: readonly Incoming[];
  /** The events with a seal of ours. */
  readonly sealed: readonly SubjectEvent[];
}

async function originOf(deps: WatchDeps, { chain, network }: Watcher, transactionHash: string): Promise<Origin> {
  const ownIn = ({ from, events }: Receipt) => {
    const sealed = events.filter(isSubjectEvent).filter((event) => {
      return event.terms !== undefined && subjectOfEvent(deps, chain.payerSide, event) !== undefined;
    });
    return { from, sealed };
  };
  const [{ transfers }, { finding }] = await Promise.all([
    askTransfers(chain.reader, transactionHash),
    askWitnesses(
      chain.reader,
      async (witness) => {
        const receipt = await witness.receipt(transactionHash);
        return receipt && ownIn(receipt);
      },
      ({ from, sealed }) => [from, ...sealed.map(({ logIndex, subject }) => `${logIndex} ${subject}`)].join(),
    ),
  ]);
  if (finding.is !== 'agreed' && finding.is !== 'alone') {
    throw new ChainUnavailableError(network, `too few endpoints name the sender of ${transactionHash}`);
  }
  return { transfers, ...finding.value };
}

function isSubjectEvent(event: ChainEvent): event is SubjectEvent {
  return event.type !== 'refused';
}

/**
 * True if the event has a seal of this gateway, and its item can be missing only because the database was restored. A payer gets
 * sealed items to sign that are stored only at `confirm`, and may have them carried out without calling it. So a signed item proves a
 * restore only if one of our relayers sent it. Deposit addresses and coin actions are stored before anybody gets them.
 */
function isForgotten(
  { chain }: Watcher,
  { logIndex, fields: { asset = '' } }: StoredEvent,
  { origin, own }: { readonly origin: Origin; readonly own: readonly string[] },
): boolean {
  const event = origin.sealed.find((each) => each.logIndex === logIndex);
  const terms = event && termsOfEvent(chain.network, event);
  if (event === undefined || terms === undefined) return false;
  // Native coin emits no log of its own, so the amount is the one that the Collector reports.
  if (event.type === 'paid') {
    return (
      terms.method === 'native' ||
      (isAmong(chain.network.chainId, own, origin.from) && isMoved(event, origin.transfers))
    );
  }
  const address = chain.payerSide.depositAddressOf({ ...terms, subject: '', seal: event.subject });
  const swept = origin.transfers.filter((each) => each.asset === asset && isSameAddress(asset, address, each.from));
  return swept.reduce((sum, { amount }) => sum + amount, 0n) >= event.amount;
}

function isAmong(network: string, own: readonly string[], account: string): boolean {
  return own.some((each) => isSameAddress(network, each, account));
}

/** Deletes forged events, because a stored event would count as a transfer that is missing in the database. */
async function forgetForged(
  deps: WatchDeps,
  { network, lease }: Watcher,
  forged: readonly StoredEvent[],
): Promise<void> {
  if (forged.length === 0) return;
  await commandOfLeader(deps, lease, (tx) => deleteEvents(tx, network, forged));
  for (const { transactionHash: transaction, blockNumber: block } of forged) {
    deps.log.error({ network, transaction, block }, 'a forged event: the endpoints do not show it');
  }
}

async function freezeRestored(deps: WatchDeps, { network, lease }: Watcher, event: StoredEvent): Promise<void> {
  const { transactionHash, blockNumber, commitment } = event;
  const reason = `transaction ${transactionHash} in block ${blockNumber} was made with a key of ours, and the database does not know it. Run till rebuild from that block or an earlier one`;
  await commandOfLeader(deps, lease, async (tx, since) => {
    await lockFreezes(tx);
    // A rebuild may have restored the item while the endpoints were asked, and lifted the freeze of this network. Nobody would lift a
    // freeze that is set afterwards.
    if ((await findItemsOfEvents(tx, network, [commitment])).length > 0) return;
    await putFreeze(tx, deps, { scope: 'restored', subject: network, reason, actor: 'watcher', since });
  });
}
