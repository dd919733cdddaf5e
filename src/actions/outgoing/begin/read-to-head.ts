import type { ConnectedChain } from '../../../chains/chains.ts';
import { LONE_DEPTH_FACTOR } from '../../../domain/quorum.ts';
import { findCursors } from '../../../store/chain/chain-cursors.ts';
import type { CommandDeps } from '../../command.ts';
import { askHeights } from '../../evidence.ts';

const MAX_BEHIND = 16;

/**
 * True if the watcher has read the chain nearly up to its last final block. Before that nothing is signed: if the database was restored
 * from a backup, an unread block may show that a transfer was already sent (`findForgotten`).
 */
export async function isReadToHead({ db }: Pick<CommandDeps, 'db'>, { chain }: ConnectedChain): Promise<boolean> {
  // Several endpoints are asked, because a single one could claim a shorter chain and hide a sent transfer, which would then be sent
  // twice.
  const [heights, cursors] = await Promise.all([askHeights(chain.reader), findCursors(db.sql)]);
  const cursor = cursors.find(({ network }) => network === chain.network.chainId);
  const depth = chain.network.finality?.depth ?? 1;
  const reached = heights.agreed ?? heights.alone;
  const factor = heights.agreed === undefined ? LONE_DEPTH_FACTOR : 1;
  return cursor !== undefined && reached !== undefined && cursor.finalNumber >= reached - depth * factor - MAX_BEHIND;
}
