import type { ChainEvent } from '../../../chains/chain.ts';
import type { ConnectedChain } from '../../../chains/chains.ts';
import { isSmall } from '../../../chains/finality.ts';
import { findCursors } from '../../../store/chain/chain-cursors.ts';
import { findItems } from '../../../store/chain/items.ts';
import { rewindCoinCursors } from '../../../store/money/book-comparison.ts';
import { positionsOf, refoldBalances } from '../../../store/money/books.ts';
import { findStrayCursor } from '../../../store/money/strays.ts';
import { type CommandDeps, command } from '../../command.ts';
import { hearEvents } from '../../evidence.ts';
import { ownAccounts, storeStrays, strayOf } from '../../outgoing/stray/record-strays.ts';
import { hasLeft, ownershipOf } from '../audit/compare-events.ts';
import type { PaidEvent } from '../audit/paid-event.ts';
import { subjectOfEvent } from '../audit/paid-event.ts';
import { restoreOutgoing } from './restore-outgoing.ts';
import { restorePayment } from './restore-payment.ts';
import { type Outcome, Unplaced } from './restoring.ts';

export interface RebuildInput {
  readonly from: number;
  readonly to?: number | undefined;
  /** Whose payments are those of which the chain cannot tell. */
  readonly merchantId?: string | undefined;
  /** Whose float was returned where nothing tells: a merchant's id, or the operator. */
  readonly floatOwner?: string | undefined;
}

export interface RebuildReport {
  readonly network: string;
  readonly from: number;
  readonly to: number;
  /** Payments, payouts, refunds, returns and strays that were made again, in whole or in part. */
  readonly rebuilt: readonly string[];
  /** What is on the chain and could not be made again, and why: the words complete a sentence about it. */
  readonly unplaced: readonly { readonly id: string; readonly problem: string }[];
}

const RANGE = 500;

/**
 * Makes rows again that are on the chain and were lost here, as far as the chain can know: payments, what left accounts of
 * ours, what came to them unasked, and the book entries of all these. What is there stays as it is. Undefined when the
 * chain was never read.
 */
export async function rebuild(
  deps: CommandDeps,
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
  const attempt = async (event: PaidEvent, restore: () => Promise<Outcome>) => {
    const id = subjectOfEvent(event);
    try {
      if ((await restore()) === 'rebuilt') rebuilt.push(id);
    } catch (error) {
      if (!(error instanceof Unplaced)) throw error;
      unplaced.push({ id, problem: error.message });
    }
  };

  const left: PaidEvent[] = [];
  for (let start = input.from; start <= to; start += RANGE) {
    const end = Math.min(start + RANGE - 1, to);
    const told = await hearEvents(chain, start, end);
    const isPaid = (event: ChainEvent): event is PaidEvent => event.type === 'paid';
    const isProved = (event: PaidEvent) =>
      told.agreed.includes(event) && (!told.isAlone || isSmall(chain.network, { ...event, amount: `${event.amount}` }));
    const paid = told.events.filter(isPaid).filter(isProved);
    for (const event of told.events.filter(isPaid)) {
      if (!isProved(event)) unplaced.push({ id: subjectOfEvent(event), problem: 'is shown by one endpoint alone' });
    }
    const { payments, outgoing } = await lostEvents(deps, connected, paid);
    for (const event of payments) {
      await attempt(event, () => restorePayment(deps, connected, event, input.merchantId));
    }
    left.push(...outgoing);
    rebuilt.push(...(await restoreStrays(deps, connected, start, end)));
  }
  // After everything that came. What was held and is known to have been paid out cannot have covered a refund.
  for (const event of left.toSorted((a, b) => rankOf(a) - rankOf(b))) {
    await attempt(event, () => restoreOutgoing(deps, connected, event, input.floatOwner));
  }
  // A row that was dropped may have been counted when it was sealed.
  await command(deps, async (tx) => {
    await refoldBalances(tx, network);
    await rewindCoinCursors(tx, network, Math.max(0, input.from - 1));
  });
  return { network, from: input.from, to, rebuilt: [...new Set(rebuilt)], unplaced };
}

function rankOf(event: PaidEvent): number {
  return subjectOfEvent(event).startsWith('rfnd_') ? 1 : 0;
}

/** Events whose item is missing, and those of paid items: what followed from them may be. */
async function lostEvents({ db }: CommandDeps, connected: ConnectedChain, events: readonly PaidEvent[]) {
  const { chain, intermediateAccount } = connected;
  const items = await findItems(db.sql, [...new Set(events.map(({ commitment }) => commitment))]);
  const known = new Map(items.map((item) => [item.commitment, item]));
  // One that is not paid yet is the watcher's to decide.
  const ripe = events.filter(({ commitment }) => (known.get(commitment)?.state ?? 'paid') === 'paid');
  const own = ownAccounts(connected);
  const isOutgoing = (event: PaidEvent) => {
    const item = known.get(event.commitment);
    return item === undefined ? hasLeft(event, own) : item.purpose !== 'payment';
  };
  const unknown = ripe.filter((event) => !known.has(event.commitment) && !isOutgoing(event));
  const isOurs = await ownershipOf(db.sql, { network: chain.network.chainId, intermediateAccount, unknown });
  return {
    payments: ripe.filter((event) => !isOutgoing(event) && (known.has(event.commitment) || isOurs(event))),
    outgoing: ripe.filter(isOutgoing),
  };
}

/** What came unasked since the books began; of what had come before, only what the books tell of. */
async function restoreStrays(
  deps: CommandDeps,
  connected: ConnectedChain,
  from: number,
  to: number,
): Promise<string[]> {
  const { sql } = deps.db;
  const cursor = await findStrayCursor(sql, connected.chain.network.chainId);
  const found = await connected.chain.incoming(ownAccounts(connected), from, to);
  const strays = found.map((transfer) => strayOf(connected, transfer, 'unclaimed'));
  const booked = await positionsOf(
    sql,
    strays.map(({ id }) => id),
  );
  const isSince = (block: number) => cursor !== undefined && block > cursor.begunAt;
  const ours = strays.filter(({ id, blockNumber }) => isSince(blockNumber) || booked.has(id));
  return command(deps, (tx, now) => storeStrays(tx, ours, now));
}
