import type { ConnectedChain } from '../../../chains/chains.ts';
import { LONE_DEPTH_FACTOR } from '../../../domain/quorum.ts';
import { findCursors } from '../../../store/chain/chain-cursors.ts';
import type { CommandDeps } from '../../command.ts';
import { askHeights } from '../../evidence.ts';

const MAX_BEHIND = 16;

/**
 * True if the chain was read nearly to its head. Nothing is signed before that, because the chain may show a first transfer that a
 * restored database has forgotten (`findForgotten`).
 */
export async function isReadToHead({ db }: Pick<CommandDeps, 'db'>, { chain }: ConnectedChain): Promise<boolean> {
  // Several endpoints are asked: a single one could claim a shorter chain, hide the first transfer, and so cause a second one.
  const [heights, cursors] = await Promise.all([askHeights(chain.reader), findCursors(db.sql)]);
  const cursor = cursors.find(({ network }) => network === chain.network.chainId);
  const depth = chain.network.finality?.depth ?? 1;
  const reached = heights.agreed ?? heights.alone;
  const factor = heights.agreed === undefined ? LONE_DEPTH_FACTOR : 1;
  return cursor !== undefined && reached !== undefined && cursor.finalNumber >= reached - depth * factor - MAX_BEHIND;
}
