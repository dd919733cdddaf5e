import { askWitnesses, blockKey, disputedBlock } from '../evidence.ts';
import type { View, WatchDeps, Watcher } from './watcher.ts';

/**
 * The tolerated difference between the time of the last final block and the time that our clock and the depth suggest. If the
 * difference is larger, a second endpoint is asked.
 */
const USUAL_ERROR_MS = 60_000;

/**
 * The time before which a deadline must lie for its attempt to be judged, in Unix milliseconds. It is the time of the last final
 * block, as one endpoint reports it. That is enough to choose attempts, because two endpoints must then confirm that a deadline has
 * passed. But a time that is far too early would choose no attempt. So two endpoints are asked if the time is far from our own
 * clock's. In normal operation this costs no call.
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
