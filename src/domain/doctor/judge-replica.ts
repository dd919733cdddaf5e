import { bytesText, type Judged, remark, spanText, warning } from './diagnosis.ts';
import type { ReplicaFacts, ReplicaOutage } from './facts.ts';

/** Judges the read replica. The primary answers lists if the replica cannot, so no finding here is a fault. */
export function judgeReplica(replica: ReplicaFacts | ReplicaOutage | null): Judged {
  if (replica === null) {
    return { facts: [{ name: 'read replica', value: 'none: READ_DATABASE_URL is not set' }], findings: [] };
  }
  if ('outage' in replica) {
    const remedy = 'See that the server runs, and that READ_DATABASE_URL names it with the right user and password.';
    return {
      facts: [],
      findings: [
        warning(`The read replica is out of reach: ${replica.outage}. The primary answers all lists.`, remedy),
      ],
    };
  }
  const { version, role, standing, lagMs, behindBytes, maxLagMs } = replica;
  const place = lagMs === null ? `${bytesText(behindBytes)} behind` : `at most ${spanText(lagMs)} behind`;
  const facts = [{ name: 'read replica', value: `PostgreSQL ${version}, as ${role}, ${place}` }];
  return { facts, findings: [FINDINGS[standing](maxLagMs)].flat() };
}

const FINDINGS = {
  follows: () => [],
  behind: (maxLagMs: number) =>
    warning(
      `The read replica has not reached the primary within ${spanText(maxLagMs)}. The primary answers all lists.`,
      'Look at its disk, at the network, and at long queries on it (max_standby_streaming_delay); or raise READ_MAX_LAG_MS.',
    ),
  not_a_replica: () =>
    warning(
      'READ_DATABASE_URL leads to no streaming replica of this database. The primary answers all lists.',
      'Name a standby of the same server, with the same database. A promoted one must be made a standby again.',
    ),
  other_timeline: () =>
    remark(
      'The read replica does not show yet that it follows the present primary. The primary answers lists until then.',
      'It does with its next restart point, or at once if its role has `pg_read_all_stats`. If it never does, make it anew (pg_rewind, pg_basebackup).',
    ),
} as const;
