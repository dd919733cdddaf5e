import { ChainUnavailableError } from '../../../chains/chain-errors.ts';
import type { ChainEvent, ChainReader } from '../../../chains/chain-reader.ts';
import type { ConnectedChain } from '../../../chains/chains.ts';
import { isSmall } from '../../../chains/finality.ts';
import { refundNumberOf } from '../../../domain/ids.ts';
import type { Screening } from '../../../screening/screening.ts';
import { findCursors } from '../../../store/chain/chain-cursors.ts';
import { findItemsOfEvents } from '../../../store/chain/items.ts';
import { rewindCoinCursors } from '../../../store/money/book-comparison.ts';
import { positionsOf, refoldBalances } from '../../../store/money/books.ts';
import { findUnexplained } from '../../../store/money/forgotten-events.ts';
import { findUnexpectedCursor } from '../../../store/money/unexpected-money.ts';
import { type CommandDeps, command } from '../../command.ts';
import { askEvents, askTouching, askTransfers } from '../../evidence.ts';
import { storeUnexpected, unexpectedOf, unownedOf } from '../../outgoing/return/record-unexpected-transfers.ts';
import { intermediateAccounts, ownAccounts } from '../../own-accounts.ts';
import { hasLeft, isMoved, provingAssets } from '../../own-transfer.ts';
import { liftFreeze } from '../../parties/freeze.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import type { SubjectKeyDeps } from '../../subject-keys.ts';
import { ownershipOf } from '../audit/compare-events.ts';
import { hasOwnSeal, nameEvents, type PaidEvent, type SweptEvent } from '../audit/paid-event.ts';
import { restoreGas } from './restore-gas.ts';
import { restoreMovements } from './restore-movements.ts';
import { restoreOutgoing } from './restore-outgoing.ts';
import { restorePayment } from './restore-payment.ts';
import { restoreSweeps } from './restore-sweep.ts';
import { NOT_OURS, type Outcome, Unplaced } from './restoring.ts';
import { isNamedRefund, isSignedRefund } from './signed-refund.ts';
import { isUnopened, lostSeals, UNOPENED } from './unopened-seals.ts';

export interface RebuildInput {
  readonly from: number;
  readonly to?: number | undefined;
  /** The merchant of payments whose merchant cannot be found from the chain. */
  readonly merchantId?: string | undefined;
  /** The owner of a returned float if no row shows it: a merchant's id, or the operator. */
  readonly floatOwner?: string | undefined;
}

export interface RebuildReport {
  readonly network: string;
  readonly from: number;
  readonly to: number;
  /** The ids of restored payments, payouts, refunds, returns and unexpected money, in whole or in part. */
  readonly rebuilt: readonly string[];
  /** Events that could not be restored. The problem completes a sentence about the event. */
  readonly unplaced: readonly { readonly id: string; readonly problem: string }[];
  /** Transactions of our accounts whose gas was booked again. */
  readonly gas: readonly string[];
  /** True if the `restored` freeze of the network was lifted, because every transfer out of our accounts is explained. */
  readonly isLifted: boolean;
}

const RANGE = 500;

/**
 * Restores lost rows as far as the chain shows them: payments, transfers out of our accounts, unexpected money, and the book
 * entries of all these and of gas. Existing rows stay unchanged. Undefined if the chain was never read.
 */
export async function rebuild(
  deps: CommandDeps & RowKeyDeps & SubjectKeyDeps & { readonly screening: Screening },
  connected: ConnectedChain,
  input: RebuildInput,
): Promise<RebuildReport | undefined> {
  const { chain } = connected;
  const network = chain.network.chainId;
  const cursor = (await findCursors(deps.db.sql)).find((each) => each.network === network);
  if (cursor === undefined) return undefined;
  const to = Math.min(input.to ?? cursor.finalNumber, cursor.finalNumber);
  const rebuilt: string[] = [];
  const unplaced: { id: string; problem: string }[] = [];
  // Transactions of events that could not be restored: their money belongs to somebody, so it is not unexpected.
  const owned = new Set<string>();
  const setAside = ({ id, transactionHash }: PaidEvent | SweptEvent, problem: string) => {
    unplaced.push({ id, problem });
    if (!isOfStranger({ problem })) owned.add(transactionHash);
  };
  const attempt = async (event: PaidEvent | SweptEvent, restore: () => Promise<Outcome>) => {
    try {
      if ((await restore()) === 'rebuilt') rebuilt.push(event.id);
    } catch (error) {
      if (!(error instanceof Unplaced)) throw error;
      setAside(event, error.message);
    }
  };

  const left: PaidEvent[] = [];
  const swept: SweptEvent[] = [];
  const named: PaidEvent[] = [];
  const unopened: (PaidEvent | SweptEvent)[] = [];
  const carriers = new Map<string, number>();
  for (let start = input.from; start <= to; start += RANGE) {
    const end = Math.min(start + RANGE - 1, to);
    const reported = await askEvents(chain.reader, start, end);
    const isProved = (event: ChainEvent & { type: 'paid' }) =>
      reported.agreed.includes(event) &&
      (!reported.isAlone || isSmall(deps, chain.network, { ...event, amount: `${event.amount}` }));
    const all = reported.events.filter((event) => event.type === 'paid');
    const paid: PaidEvent[] = nameEvents(deps, chain.payerSide, all.filter(isProved));
    const unproved = nameEvents(
      deps,
      chain.payerSide,
      all.filter((event) => !isProved(event)),
    );
    for (const event of unproved) setAside(event, 'is shown by one endpoint alone');
    const sweeps = reported.agreed.filter((event) => event.type === 'swept');
    const namedSweeps = nameEvents(deps, chain.payerSide, sweeps);
    swept.push(...namedSweeps);
    unopened.push(...[...paid, ...namedSweeps].filter((event) => isUnopened(connected, event)));
    for (const { transactionHash, block } of sweeps) carriers.set(transactionHash, block.number);
    const { payments, outgoing, refunds } = await lostEvents(deps, connected, paid);
    for (const event of payments) {
      await attempt(event, () => restorePayment(deps, connected, event, input.merchantId));
    }
    left.push(...outgoing);
    named.push(...refunds);
    for (const { transactionHash, block } of [...payments, ...outgoing]) carriers.set(transactionHash, block.number);
  }
  for (const events of await lostSweeps(deps, connected, swept)) {
    const [first] = events;
    if (first === undefined) continue;
    await attempt(first, () => restoreSweeps(deps, connected, events, input.merchantId));
    if (owned.has(first.transactionHash)) for (const { transactionHash } of events) owned.add(transactionHash);
  }
  // Movements are restored directly after their addresses, because a watcher may already compute the money of these addresses.
  await restoreMovements(deps, connected, {
    from: input.from,
    to,
    commitments: swept.map(({ commitment }) => commitment),
  });
  for (const event of await lostSeals(deps, connected, unopened)) setAside(event, UNOPENED);
  // Unexpected money is restored after the deposit addresses, so that money of their sweeps is attributed to them.
  for (let start = input.from; start <= to; start += RANGE) {
    const range = { from: start, to: Math.min(start + RANGE - 1, to) };
    rebuilt.push(...(await restoreUnexpected(deps, connected, { ...range, owned })));
  }
  // A refund that the merchant signed is paid by the account that received the payment. That account is known once the payment is
  // restored.
  for (const event of named) {
    if (!(await isSignedRefund(deps, connected, event))) continue;
    left.push(event);
    carriers.set(event.transactionHash, event.block.number);
  }
  // Outgoing transfers are restored after payments, and refunds last: money that was paid out cannot have covered a refund.
  for (const event of left.toSorted((a, b) => rankOf(a) - rankOf(b))) {
    await attempt(event, () => restoreOutgoing(deps, connected, event, input.floatOwner));
  }
  const restored = await restoreGas(deps, connected, { from: input.from, to, carriers });
  unplaced.push(...restored.unplaced);
  // Stored balances are added up again, because a lost row may have been part of one.
  await command(deps, async (tx) => {
    await refoldBalances(tx, network);
    await rewindCoinCursors(tx, network, Math.max(0, input.from - 1));
  });
  const unexplained = await findUnexplained(deps.db.sql, {
    network,
    assets: provingAssets(deps.registry, network),
    payers: await ownAccounts(deps, connected),
    isUndecided: false,
  });
  if (unexplained !== undefined && unplaced.every(isOfStranger)) {
    const problem = `took money from an account of ours, and no row explains it. Rebuild from block ${unexplained.blockNumber} or an earlier one. If the transfer was not made by the gateway, lift the freeze by till unfreeze restored ${network}`;
    unplaced.push({ id: unexplained.transactionHash, problem });
  }
  const isLifted = to === cursor.finalNumber && unplaced.every(isOfStranger) && (await liftRestored(deps, network));
  return { network, from: input.from, to, rebuilt: [...new Set(rebuilt)], unplaced, gas: restored.gas, isLifted };
}

/**
 * True if the problem concerns an event that moved no money of our accounts. Anybody can cause such an event, so it must not keep
 * payouts and refunds frozen.
 */
function isOfStranger({ problem }: { readonly problem: string }): boolean {
  return problem === NOT_OURS;
}

function liftRestored(deps: CommandDeps & RowKeyDeps, network: string): Promise<boolean> {
  const lift = { scope: 'restored', subject: network, actor: 'operator', reason: 'rebuild has caught up' } as const;
  return command(deps, async (tx, now) => (await liftFreeze(tx, deps, lift, now)) !== undefined);
}

function rankOf({ id }: PaidEvent): number {
  return id.startsWith('rfnd_') ? refundNumberOf(id) : 0;
}

/**
 * Events whose item is missing, and events of paid items, whose consequences may be missing. An event with the id of a refund may
 * be a transfer from the merchant's own account.
 */
async function lostEvents(deps: CommandDeps & RowKeyDeps, connected: ConnectedChain, events: readonly PaidEvent[]) {
  const { db } = deps;
  const { chain } = connected;
  const network = chain.network.chainId;
  const commitments = [...new Set(events.map(({ commitment }) => commitment))];
  const items = await findItemsOfEvents(db.sql, network, commitments);
  const known = new Map(items.map((item) => [item.commitment, item]));
  // Events of items that are not paid yet are left to the watcher.
  const ripe = events.filter(({ commitment }) => (known.get(commitment)?.state ?? 'paid') === 'paid');
  const own = await ownAccounts(deps, connected);
  const isOutgoing = (event: PaidEvent) => {
    const item = known.get(event.commitment);
    return item === undefined ? hasLeft(deps.registry, event, own) : item.purpose !== 'payment';
  };
  const strange = ripe.filter((event) => !known.has(event.commitment) && !isOutgoing(event));
  const unknown = strange.filter((event) => !isNamedRefund(deps.registry, event));
  const intermediates = await intermediateAccounts(deps, connected);
  const isOurs = await ownershipOf(db.sql, deps.registry, { network, intermediates, unknown });
  return {
    payments: [
      ...ripe.filter((event) => !isOutgoing(event) && known.has(event.commitment)),
      ...unknown.filter((event) => isOurs(event)),
    ],
    outgoing: await movedAmong(chain.reader, ripe.filter(isOutgoing), known),
    refunds: strange.filter((event) => isNamedRefund(deps.registry, event)),
  };
}

/**
 * The events that have moved money: those of known items, those with our seal, and those whose token shows the transfer. Anybody can
 * make the Collector report that an account of ours has paid, and such a report must not keep payouts and refunds frozen.
 */
async function movedAmong(reader: ChainReader, events: readonly PaidEvent[], known: ReadonlyMap<string, unknown>) {
  const moved: PaidEvent[] = [];
  for (const event of events) {
    const isProved = known.has(event.commitment) || hasOwnSeal(event) === true;
    if (isProved || isMoved(event, (await askTransfers(reader, event.transactionHash)).transfers)) moved.push(event);
  }
  return moved;
}

/** Sweeps of ours whose address is unknown, grouped by address. */
async function lostSweeps(deps: CommandDeps & RowKeyDeps, connected: ConnectedChain, events: readonly SweptEvent[]) {
  const { db, registry } = deps;
  const { chain } = connected;
  const network = chain.network.chainId;
  const commitments = [...new Set(events.map(({ commitment }) => commitment))];
  const items = await findItemsOfEvents(db.sql, network, commitments);
  const known = new Set(items.map(({ commitment }) => commitment));
  const unknown = events.filter(({ commitment }) => !known.has(commitment));
  const intermediates = await intermediateAccounts(deps, connected);
  const isOurs = await ownershipOf(db.sql, registry, { network, intermediates, unknown });
  return Map.groupBy(unknown.filter(isOurs), ({ commitment }) => commitment).values();
}

/**
 * Restores unexpected money that arrived since the books began. Earlier money is restored only if the books mention it. Money of
 * events that could not be restored is not unexpected.
 */
async function restoreUnexpected(
  deps: CommandDeps & RowKeyDeps,
  connected: ConnectedChain,
  { from, to, owned }: { readonly from: number; readonly to: number; readonly owned: ReadonlySet<string> },
): Promise<string[]> {
  const { sql } = deps.db;
  const network = connected.chain.network.chainId;
  const cursor = await findUnexpectedCursor(sql, network);
  const accounts = new Set(await ownAccounts(deps, connected));
  const { transfers: arrived, dispute } = await askTouching(connected.chain.reader, accounts, from, to);
  if (dispute !== undefined) throw new ChainUnavailableError(network, dispute);
  const found = arrived.filter(({ transactionHash }) => !owned.has(transactionHash));
  const transfers = await unownedOf(sql, { network, accounts }, found);
  if (transfers === undefined) throw new ChainUnavailableError(network, 'it is being reorganised: rebuild again soon');
  const intermediates = await intermediateAccounts(deps, connected);
  const unexpectedMoney = transfers.map((transfer) => unexpectedOf(connected, intermediates, transfer, 'unclaimed'));
  const booked = await positionsOf(
    sql,
    unexpectedMoney.map(({ id }) => id),
  );
  const isSince = (block: number) => cursor !== undefined && block > cursor.begunAt;
  const ours = unexpectedMoney.filter(({ id, blockNumber }) => isSince(blockNumber) || booked.has(id));
  return command(deps, (tx, now) => storeUnexpected(tx, deps.registry, ours, now));
}
