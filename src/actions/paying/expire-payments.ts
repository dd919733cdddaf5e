import { unlessUnavailable } from '../../chains/chain-errors.ts';
import type { Chains, ConnectedChain } from '../../chains/chains.ts';
import { unshifted } from '../../runtime/shifted-clock.ts';
import { findCursors } from '../../store/chain/chain-cursors.ts';
import { findFirstUndecided } from '../../store/chain/chain-events.ts';
import { isRestoring } from '../../store/parties/freezes.ts';
import { lockOverdue } from '../../store/payments/payments.ts';
import { type CommandDeps, command } from '../command.ts';
import { moveLocked } from './move-locked.ts';

const BATCH = 500;
/**
 * The longest time for which a node waits until the networks are read. An unreachable network or a false head must not keep payments open
 * forever.
 */
const MAX_WAIT_MS = 120_000;

/**
 * The job that expires payments. It begins when the networks have been read up to the blocks that were final at the start of the
 * node. That read shows whether the database was restored; in that case payments that were open in the backup may have been paid
 * since.
 */
export function createExpiry(deps: CommandDeps & { readonly chains: Chains }): () => Promise<boolean> {
  const clock = unshifted(deps.world.clock);
  const startMs = clock.nowMs();
  const unread = new Map(deps.chains.list().map((connected) => [connected, undefined as number | undefined]));
  const checkRead = async (connected: ConnectedChain) => {
    const height = unread.get(connected) ?? (await finalHeightOf(connected));
    unread.set(connected, height);
    if (height !== undefined && (await isReadTo(deps, connected, height))) unread.delete(connected);
  };
  return async () => {
    if (unread.size > 0) await Promise.all([...unread.keys()].map(checkRead));
    if (unread.size > 0 && clock.nowMs() - startMs < MAX_WAIT_MS) return false;
    unread.clear();
    return expirePayments(deps);
  };
}

/**
 * The last block that is final now, by the highest head of at least two endpoints: an endpoint that claims a shorter chain must not
 * end the wait early. Undefined while fewer endpoints answer.
 */
async function finalHeightOf({ chain }: ConnectedChain): Promise<number | undefined> {
  const witnesses = chain.reader.witnesses();
  const heads = await Promise.all(witnesses.map((witness) => unlessUnavailable(witness.head())));
  const numbers = heads.flatMap((head) => head?.number ?? []);
  if (numbers.length < Math.min(2, witnesses.length)) return undefined;
  return Math.max(...numbers) - (chain.network.finality?.depth ?? 1) + 1;
}

/** True if every event up to the block was read and decided, or if the network was never read. */
async function isReadTo({ db }: CommandDeps, { chain }: ConnectedChain, height: number): Promise<boolean> {
  const network = chain.network.chainId;
  const cursor = (await findCursors(db.sql)).find((each) => each.network === network);
  if (cursor === undefined) return true;
  const undecided = await findFirstUndecided(db.sql, network);
  return cursor.finalNumber >= height && (undecided === undefined || undecided > height);
}

/**
 * Expires overdue payments. Returns true if there may be more. After a restore no payment expires: it may have been paid since the
 * backup, which only the rebuild finds out.
 */
export function expirePayments(deps: CommandDeps, limit = BATCH): Promise<boolean> {
  return command(deps, async (tx, now) => {
    if (await isRestoring(tx)) return false;
    const overdue = await lockOverdue(tx, { now, limit });
    const moves = overdue.map(({ id: paymentId }) => ({ paymentId, ...EXPIRY }));
    await moveLocked(tx, overdue, moves, now);
    return overdue.length === limit;
  });
}

const EXPIRY = {
  event: { type: 'expired', proof: 'clock' },
  actor: 'sweeper',
  evidence: { proof: 'clock' },
} as const;
