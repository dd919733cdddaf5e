import { amountText } from '../../../chains/amount-text.ts';
import type { Incoming, UnreadableLog } from '../../../chains/chain-reader.ts';
import type { ConnectedChain } from '../../../chains/chains.ts';
import type { Registry, RegistryDeps } from '../../../chains/registry.ts';
import { ACCOUNTS } from '../../../domain/books.ts';
import type { Mined, MoneyEvent, Movement } from '../../../domain/money/movement.ts';
import { type Known, knownKey, ownerOf, type Part, unownedUnits } from '../../../domain/money/owner.ts';
import { unexpectedId } from '../../../domain/unexpected-money.ts';
import type { Log } from '../../../runtime/world.ts';
import {
  type AccountCursor,
  beginAccountCursor,
  findAccountCursor,
  moveAccountCursor,
  putAccountMovements,
  putAccountRanges,
  type ReadAccountMovement,
} from '../../../store/chain/account-movements.ts';
import { findCursors, listSeenBlocks } from '../../../store/chain/chain-cursors.ts';
import { type EventOfItem, findFirstUndecided, listEventsOfItems } from '../../../store/chain/chain-events.ts';
import { findDepositAddresses } from '../../../store/chain/deposits.ts';
import { positionsOf } from '../../../store/money/books.ts';
import {
  findUnexpectedCursor,
  followOutgoing,
  insertUnexpected,
  lockUnexpectedCursor,
  moveUnexpected,
  type NewUnexpectedMoney,
  putUnexpectedCursor,
} from '../../../store/money/unexpected-money.ts';
import { isRestoring } from '../../../store/parties/freezes.ts';
import { upsertAlert } from '../../../store/plumbing/alerts.ts';
import { type Reader, savepoint, type Tx } from '../../../store/plumbing/database.ts';
import type { Alarms } from '../../alarms.ts';
import { raiseAlert } from '../../alerts.ts';
import { recordEntries } from '../../books/record.ts';
import { type CommandDeps, command } from '../../command.ts';
import { eachIsolated, isItsOwnFault } from '../../each-isolated.ts';
import { askTouching } from '../../evidence.ts';
import { intermediateAccounts, ownAccounts } from '../../own-accounts.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { followFloats, movedByHand } from '../float/follow-floats.ts';
import { bookDepartures, departuresAmong } from './book-departures.ts';
import type { OwnedTransfer } from './owned-transfer.ts';
import { raiseStrayAlert, strayAlertSubject } from './stray-alert.ts';
import { takeBackDeparturesTo } from './take-back-departures.ts';
import { isMixedCoin, unexpectedReceivedEntries } from './unexpected-entries.ts';

const MAX_RANGE = 1_000;
const FLOATS = ACCOUNTS.float('');

/**
 * Reads the transfers from and to our accounts in the final blocks of a network, and stores each as a movement with the owners of
 * its ends. An incoming transfer without an owner becomes unexpected money. An outgoing transfer without an order is booked as a
 * departure. Returns true if there are more blocks. The reading begins at the block where the network was first seen. Two nodes
 * may read the same blocks: only the node that moves the cursor stores them. After a restore this waits for `rebuild`, because
 * the money may belong to a payment or a transfer whose row was lost.
 */
export async function recordUnexpectedTransfers(
  deps: CommandDeps & RowKeyDeps & { readonly log: Log; readonly disputed: Alarms },
  connected: ConnectedChain,
): Promise<boolean> {
  const { chain } = connected;
  const network = chain.network.chainId;
  const cursors = await findCursors(deps.db.sql);
  const read = cursors.find((cursor) => cursor.network === network)?.finalNumber;
  if (read === undefined) return false;
  // Blocks from the first undecided event on are not read yet, because that event may show that the database was restored.
  const final = Math.min(read, ((await findFirstUndecided(deps.db.sql, network)) ?? read + 1) - 1);
  const cursor = await findUnexpectedCursor(deps.db.sql, network);
  if (cursor === undefined) {
    // The cursor is missing only if an older version was the first to read the network.
    await command(deps, (tx) => putUnexpectedCursor(tx, network, final));
    return false;
  }
  // Movements of earlier blocks are not stored. An older version has read those blocks, for incoming transfers only.
  const begun = (await findAccountCursor(deps.db.sql, network)) ?? (await begin(deps, network, cursor.searchedTo));
  const { readTo } = begun;
  if (final <= readTo || (await isRestoring(deps.db.sql, network))) return false;
  const to = Math.min(final, readTo + MAX_RANGE);
  const accounts = new Set(await ownAccounts(deps, connected));
  const { transfers: found, unreadable, dispute } = await askTouching(chain.reader, accounts, readTo + 1, to);
  await deps.disputed.set(`${network} unexpected money`, dispute);
  if (dispute !== undefined) return false;
  const owned = await ownersOf(deps.db.sql, { network, accounts }, found);
  if (owned === undefined) return false;
  const intermediates = await intermediateAccounts(deps, connected);
  const unexpectedMoney = withoutOwner(owned).map((transfer) =>
    unexpectedOf(connected, intermediates, transfer, 'unclaimed'),
  );
  const moved = await movedByHand(deps, connected, found);
  const departed = await departuresAmong(deps, connected, owned);
  const isStored = await command(deps, async (tx, now) => {
    // Another node was faster, or a reorganisation has removed the blocks that were read.
    if (!(await moveAccountCursor(tx, network, begun, to))) return false;
    const joined = await putAccountRanges(tx, network, { accounts: [...accounts], fromBlock: readTo + 1 });
    const joinedIntermediates = joined.filter((account) => intermediates.includes(account));
    await takeBackDeparturesTo(tx, { network, accounts: joinedIntermediates }, now);
    const movements = owned.filter(({ ends }) => ends.from.length + ends.to.length > 0).map(movementOf);
    if (movements.length > 0) await putAccountMovements(tx, network, movements);
    await storeIsolated(tx, deps, unexpectedMoney, now);
    // A node of an older version may have read some of the blocks and moved the floats. So only transfers of later blocks move floats
    // here.
    const searched = moved.length === 0 ? undefined : await lockUnexpectedCursor(tx, network);
    const followed = moved.filter(({ block }) => searched !== undefined && block.number > searched);
    if (followed.length > 0) await followFloats(tx, followed, now);
    await bookDepartures(tx, deps, connected, departed, now);
    await putUnexpectedCursor(tx, network, to);
    return true;
  });
  if (!isStored) return true;
  await reportUnreadable(deps, network, unreadable);
  if (unexpectedMoney.length > 0)
    deps.log.warn({ network, from: readTo + 1, to, count: unexpectedMoney.length }, 'unexpected money found');
  return to < final;
}

async function begin(deps: CommandDeps, network: string, readTo: number): Promise<AccountCursor> {
  return command(deps, async (tx) => {
    await beginAccountCursor(tx, network, readTo);
    return (await findAccountCursor(tx, network)) ?? { readTo, reorgs: 0 };
  });
}

/** The incoming transfers without an owner, each with the units that no payment or order explains. */
function withoutOwner(owned: readonly OwnedTransfer[]): Incoming[] {
  return owned.flatMap(({ transfer, ends }) => {
    const amount = unownedUnits(ends);
    return amount === 0n ? [] : [{ ...transfer, amount }];
  });
}

function movementOf({ transfer, ends }: OwnedTransfer): ReadAccountMovement {
  const { transactionHash, logIndex, block, asset, from, to, amount } = transfer;
  const ownerOfParts = (parts: readonly Part[]) =>
    (parts.find(({ owner }) => owner.is === 'nobody') ?? parts[0])?.owner.is ?? null;
  return {
    transactionHash,
    logIndex,
    blockNumber: block.number,
    blockHash: block.hash,
    asset,
    sender: from,
    recipient: to,
    amount: amount.toString(),
    senderOwner: ownerOfParts(ends.from),
    recipientOwner: ownerOfParts(ends.to),
  };
}

/** The transfers to our accounts that have no owner. Undefined if `ownersOf` returns undefined. */
export async function unownedOf(
  db: Reader,
  place: { readonly network: string; readonly accounts: ReadonlySet<string> },
  found: readonly Incoming[],
): Promise<Incoming[] | undefined> {
  const owned = await ownersOf(db, place, found);
  return owned && withoutOwner(owned);
}

/**
 * The transfers with the owners of both ends, which `ownerOf` derives from the events of the same transactions on chain. Undefined if the
 * blocks of the transfers are not the blocks that the watcher has read: during a reorg the stored events have other positions, so they
 * would match no transfer.
 */
async function ownersOf(
  db: Reader,
  { network, accounts }: { readonly network: string; readonly accounts: ReadonlySet<string> },
  found: readonly Incoming[],
): Promise<OwnedTransfer[] | undefined> {
  if (found.length === 0) return [];
  if (!(await areRead(db, network, found))) return undefined;
  const places = await findDepositAddresses(db, [...new Set(found.flatMap(({ from, to }) => [from, to]))]);
  const events = await listEventsOfItems(db, network, [...new Set(found.map((each) => each.transactionHash))]);
  // Checked again, because the watcher may have begun to store a reorganisation before the events were read.
  if (!(await areRead(db, network, found))) return undefined;
  const placeOf = (address: string) =>
    places.has(address) ? 'deposit' : accounts.has(address) ? 'intermediate' : null;
  const known: Known = {
    items: new Set(events.map(({ commitment }) => knownKey(network, commitment))),
    orders: new Set(events.filter(isOrder).map(({ commitment }) => knownKey(network, commitment))),
    deposits: new Map([...places].map((address) => [address, address])),
    accounts: new Map([...accounts].map((address) => [address, 'intermediate'])),
  };
  const mined = new Map<string, Mined>();
  for (const [hash, legs] of Map.groupBy(found, ({ transactionHash }) => transactionHash)) {
    const own = events
      .filter((event) => event.transactionHash === hash)
      .flatMap((event) => moneyEvents(network, event));
    mined.set(hash, { legs: legs.map((leg) => legOf(network, leg, placeOf)), events: own });
  }
  return found.flatMap((transfer): OwnedTransfer[] => {
    const transaction = mined.get(transfer.transactionHash);
    const leg = transaction?.legs.find(({ index }) => index === transfer.logIndex);
    return transaction === undefined || leg === undefined ? [] : [{ transfer, ends: ownerOf(leg, transaction, known) }];
  });
}

function isOrder({ purpose }: EventOfItem): boolean {
  return purpose !== null && purpose !== 'payment' && purpose !== 'sweep';
}

/** True if the transfers are in the blocks that the watcher has read. Blocks older than the stored ones cannot change any more. */
async function areRead(db: Reader, network: string, found: readonly Incoming[]): Promise<boolean> {
  const hashes = new Map((await listSeenBlocks(db, network)).map(({ number, hash }) => [number, hash]));
  return found.every(({ block }) => (hashes.get(block.number) ?? block.hash) === block.hash);
}

function legOf(
  network: string,
  { block, logIndex: index, transactionHash: transaction, asset, from, to, amount }: Incoming,
  placeOf: (address: string) => Movement['toPlace'],
): Movement {
  const place = { network, blockTimeS: 0, block: block.number, index, transaction };
  return { ...place, asset, from, to, amount, fromPlace: placeOf(from), toPlace: placeOf(to) };
}

/**
 * Converts an event into the form that `ownerOf` takes. Empty if the gateway has no such item, because the item of a stranger explains no
 * transfer.
 */
function moneyEvents(network: string, event: EventOfItem): MoneyEvent[] {
  const { collector, feeAccount, commitment, asset, recipient, payer } = event;
  if (collector === null || feeAccount === null) return [];
  const place = { network, blockTimeS: 0, block: event.blockNumber, index: event.logIndex };
  const units = { amount: BigInt(event.amount), fee: BigInt(event.fee) };
  const common = {
    ...place,
    ...units,
    transaction: event.transactionHash,
    commitment,
    subject: '',
    asset,
    recipient,
    feeAccount,
  };
  if (event.type === 'paid') return [{ ...common, event: 'collected', collector, kind: 'key', payer, deadlineS: 0 }];
  return [{ ...common, event: 'swept', address: payer, askedToken: '', askedAmount: 0n, askedFee: 0n }];
}

/**
 * Raises an alert for each transfer that cannot be read and was set aside. Its amount still shows when the balance is compared with the
 * books.
 */
async function reportUnreadable(
  deps: CommandDeps & { log: Log },
  network: string,
  unreadable: readonly UnreadableLog[],
): Promise<void> {
  for (const { place, reason } of unreadable.slice(0, MAX_REPORTED)) {
    const subject = `${network}:${place?.transactionHash ?? ''}:${place?.logIndex ?? ''}`;
    deps.log.error({ network, ...place, reason }, 'a transfer cannot be read');
    const message = `A transfer to an account of ours cannot be read and was set aside: ${reason}.`;
    await raiseAlert(deps, { name: 'event_set_aside', subject, message });
  }
}

const MAX_REPORTED = 10;

/** Stores and books unexpected money that is new, and returns the ids. Money that the books already contain is not booked again. */
export async function storeUnexpected(
  tx: Tx,
  registry: Registry,
  unexpectedMoney: readonly NewUnexpectedMoney[],
  at: Date,
): Promise<string[]> {
  if (unexpectedMoney.length === 0) return [];
  const ids = await insertUnexpected(tx, unexpectedMoney, at);
  const followed = new Set(await followOutgoing(tx, ids, at));
  const positions = await positionsOf(tx, ids);
  const last = new Map<string, NewUnexpectedMoney>();
  for (const unexpected of unexpectedMoney) {
    const { id, amount } = unexpected;
    if (!ids.includes(id) || followed.has(id)) continue;
    const booked = positions.get(id) ?? [];
    if (booked.some(({ account }) => account.startsWith(FLOATS))) {
      await moveUnexpected(tx, { id, from: 'unclaimed', to: 'float', at });
      continue;
    }
    if (booked.length === 0)
      await recordEntries(tx, unexpectedReceivedEntries(unexpected, BigInt(amount), proofOf(unexpected)), at);
    // Coin on relayers is usual, because the operator sends it for gas.
    if (!isMixedCoin(unexpected)) last.set(strayAlertSubject(unexpected), unexpected);
  }
  for (const unexpected of last.values()) await raiseStrayAlert(tx, registry, unexpected, at);
  return ids;
}

/**
 * Stores all rows at once, or, if that fails, each behind a savepoint of its own. A row that cannot be stored raises an alert;
 * the other rows are stored, and the cursor moves on.
 */
async function storeIsolated(
  tx: Tx,
  deps: RegistryDeps & { readonly log: Log },
  unexpectedMoney: readonly NewUnexpectedMoney[],
  at: Date,
): Promise<void> {
  try {
    await savepoint(tx, (inner) => storeUnexpected(inner, deps.registry, unexpectedMoney, at));
    return;
  } catch (error) {
    if (!isItsOwnFault(error)) throw error;
  }
  await eachIsolated(
    unexpectedMoney,
    (unexpected) => savepoint(tx, (inner) => storeUnexpected(inner, deps.registry, [unexpected], at)),
    async ({ id, network, asset, amount, transactionHash: transaction }, err) => {
      deps.log.error({ network, transaction, err }, 'money without a payment cannot be booked');
      const message = `${amountText(deps.registry, asset, amount)} came to an account of ours in transaction ${transaction}, and could not be booked: ${err instanceof Error ? err.message : String(err)}`;
      await upsertAlert(tx, { name: 'event_set_aside', subject: id, message, lastSeen: at });
    },
  );
}

/**
 * The row of unexpected money for a transfer. Its money is in the books if tokens came to an intermediate account, present or earlier.
 */
export function unexpectedOf(
  { chain }: ConnectedChain,
  intermediates: readonly string[],
  transfer: Incoming,
  state: NewUnexpectedMoney['state'],
): NewUnexpectedMoney {
  const { transactionHash, logIndex, block, asset, from, to, amount } = transfer;
  const place = { network: chain.network.chainId, transactionHash, logIndex, source: 'transfer' } as const;
  return {
    ...place,
    id: unexpectedId(place),
    blockNumber: block.number,
    asset,
    sender: from,
    account: to,
    amount: amount.toString(),
    fee: '0',
    isHeld: true,
    paymentId: null,
    merchantId: null,
    isBooked: intermediates.includes(to) && asset !== chain.network.coin.id,
    state,
  };
}

function proofOf({ transactionHash, blockNumber }: NewUnexpectedMoney) {
  return { ...(transactionHash !== null && { transaction: transactionHash }), block: blockNumber };
}
