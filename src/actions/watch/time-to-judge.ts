import { askWitnesses, blockKey, disputedBlock } from '../evidence.ts';
import type { View, WatchDeps, Watcher } from './watcher.ts';

/** The last final block may be this much older or newer than our clock and the depth suggest, before a second endpoint is asked. */
const USUAL_ERROR_MS = 60_000;

/**
 * Attempts with an earlier deadline are judged. The cursor's block time is the word of one endpoint. That is enough to choose
 * attempts, because two endpoints say whether a deadline has passed, but only near our own clock: a time that is far too early would
 * choose none, and end nothing. Beyond that, two endpoints are asked. So a chain in normal operation costs no call.
 */
export async function timeToJudge(
  deps: WatchDeps,
  { chain, depth, memory }: Watcher,
  { finalNumber, finalAtMs }: View,
): Promise<number> {
  const nowMs = deps.world.clock.nowMs();
  const expectedMs = nowMs - depth * (chain.network.finality?.blockTimeMs ?? 0);
  if (Math.abs(finalAtMs - expectedMs) <= USUAL_ERROR_MS) return finalAtMs;
  const { finding, statements } = await askWitnesses(chain.reader, (witness) => witness.block(finalNumber), blockKey);
  if (finding.is === 'agreed' || finding.is === 'alone') return finding.value.timestampS * 1000;
  if (finding.is === 'disputed') memory.disputes.set('endings', disputedBlock(finalNumber, statements));
  return Math.min(finalAtMs, nowMs);
}
