import { hostUrls } from '../../domain/database-hosts.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import { ConnectionError, connect, connectionSettings, cut, send } from './connection.ts';

/** A server of the database that accepts writes. */
export interface Primary {
  /** The URL of this host alone. */
  readonly url: string;
  /** The number of the server's timeline, which increases with each failover. */
  readonly timeline: number;
}

/** The longest wait for the answer of a host. A host that takes longer has vanished or hangs. */
const ANSWER_MS = 2_000;
/** The time that the other hosts get after the first answer of a primary. A former primary may answer faster than its successor. */
const GRACE_MS = 300;
const ASK = {
  text: 'select case when not pg_is_in_recovery() then pg_walfile_name(pg_current_wal_lsn()) end as wal',
  values: [],
};

/**
 * Finds the primary among the hosts of the URL. A former primary that was started again also accepts writes. Each promotion begins a new
 * timeline, so the server with the highest timeline is the primary. A server with a timeline below `leastTimeline` cannot be the primary.
 */
export async function findPrimary(url: string, leastTimeline = 0): Promise<Primary> {
  const urls = hostUrls(url);
  if (urls.length === 1) return { url, timeline: 0 };
  const found: Primary[] = [];
  const first = Promise.withResolvers<void>();
  const asked = urls.map(async (each) => {
    const timeline = await timelineOf(each).catch(() => undefined);
    if (timeline === undefined || timeline < leastTimeline) return;
    found.push({ url: each, timeline });
    first.resolve();
  });
  const all = Promise.all(asked);
  await Promise.race([first.promise, all]);
  await Promise.race([systemWorld.timers.sleep(GRACE_MS), all]);
  const [primary] = found.sort((a, b) => b.timeline - a.timeline);
  if (primary === undefined) throw new ConnectionError(new Error('No host of the database takes writes.'));
  return primary;
}

/** The timeline of a server that accepts writes. Undefined for a standby. The query has no parameters, so a pooler accepts it as well. */
async function timelineOf(url: string): Promise<number | undefined> {
  const client = await connect({
    ...connectionSettings({ url, applicationName: 'till-primary', isPooled: true }),
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
  });
  try {
    const { rows } = await send(client, ASK);
    const wal: string | null = rows[0].wal;
    return wal === null ? undefined : Number.parseInt(wal.slice(0, 8), 16);
  } finally {
    cut(client);
  }
}
