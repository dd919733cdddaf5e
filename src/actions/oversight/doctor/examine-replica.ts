import type { Asked, ReplicaFacts, ReplicaOutage } from '../../../domain/doctor/facts.ts';
import { readServerState } from '../../../store/plumbing/database-state.ts';
import { readPrimaryPlace, readReplicaPlace } from '../../../store/plumbing/replica-place.ts';
import { askWithin, reasonOf } from './ask-within.ts';
import type { Read } from './examine-database.ts';
import type { ExamineDeps } from './examine-deps.ts';

const OPEN_WITHIN_MS = 8_000;
/** The longest wait for the replica, also if its permitted lag is longer. */
const LONGEST_WAIT_MS = 5_000;
const STEP_MS = 50;

/** Measures how long the replica takes to reach the present position of the primary's write-ahead log. */
export async function examineReplica(
  { world, replica }: Pick<ExamineDeps, 'world' | 'replica'>,
  read: Read,
): Promise<Asked<ReplicaFacts | ReplicaOutage | null>> {
  if (replica === null) return { known: null };
  const { clock, timers } = world;
  const { maxLagMs } = replica;
  const startedAtMs = clock.nowMs();
  const primary = await read(readPrimaryPlace);
  if ('unknown' in primary) return primary;
  const asked = await askWithin(timers, OPEN_WITHIN_MS + LONGEST_WAIT_MS, async (): Promise<ReplicaFacts> => {
    const db = await replica.open();
    try {
      const { version, role } = await readServerState(db.sql);
      const untilMs = clock.nowMs() + Math.min(maxLagMs, LONGEST_WAIT_MS);
      for (;;) {
        const place = await readReplicaPlace(db.sql);
        const behindBytes = Number(primary.known.position - BigInt(place.position ?? '0'));
        const lagMs = clock.nowMs() - startedAtMs;
        const facts = { version, role, maxLagMs, behindBytes: Math.max(0, behindBytes) };
        if (!place.isStandby || place.identity !== primary.known.identity) {
          return { ...facts, standing: 'not_a_replica', lagMs: null };
        }
        if ((place.timeline ?? 0) < primary.known.timeline)
          return { ...facts, standing: 'other_timeline', lagMs: null };
        if (behindBytes <= 0) return { ...facts, standing: 'follows', lagMs };
        if (clock.nowMs() >= untilMs) return { ...facts, standing: 'behind', lagMs: null };
        await timers.sleep(STEP_MS);
      }
    } finally {
      await db.close();
    }
  }).catch((error: unknown) => ({ unknown: reasonOf(error) }));
  return 'unknown' in asked ? { known: { outage: asked.unknown } } : asked;
}
