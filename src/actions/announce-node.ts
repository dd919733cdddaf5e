import type { Secrets } from '../runtime/secrets.ts';
import { unshiftedWorld } from '../runtime/shifted-clock.ts';
import type { Log } from '../runtime/world.ts';
import { listNodes, putNode } from '../store/plumbing/nodes.ts';
import { createAlarms } from './alarms.ts';
import { type CommandDeps, command } from './command.ts';
import { type RecordStanding, standingAmong } from './record-standing.ts';

export interface NodeDeps extends CommandDeps {
  readonly host: string;
  readonly config: { readonly roles: readonly string[] };
  readonly secrets: Pick<Secrets, 'ids'>;
  readonly log: Log;
  readonly standing: RecordStanding;
}

/** A node without an announcement for this long has stopped, or cannot reach the database. */
export const NODE_GONE_MS = 30_000;
/** The time for which stopped nodes stay in the list, so that an operator sees them. */
const FORGOTTEN_MS = 3_600_000;

/**
 * Creates the job that announces this node, with the ids of its master secrets and the hashes of its network records, and compares these
 * records with those of the other running nodes.
 */
export function createAnnouncement(given: NodeDeps): () => Promise<boolean> {
  const deps = { ...given, world: unshiftedWorld(given.world) };
  const { host, world } = deps;
  const { roles } = deps.config;
  const { ids: secretIds } = deps.secrets;
  const id = Buffer.from(world.random.bytes(8)).toString('hex');
  const records = deps.registry.hashes;
  const startedAt = new Date(world.clock.nowMs());
  const alarms = createAlarms(deps, 'records_differ', { isPerNode: true });
  return async () => {
    const running = await command(deps, async (tx, now) => {
      const node = { id, host, roles, secretIds, records, startedAt, seenAt: now };
      await putNode(tx, node, new Date(now.getTime() - FORGOTTEN_MS));
      return (await listNodes(tx)).filter(({ seenAt }) => now.getTime() - seenAt.getTime() < NODE_GONE_MS);
    });
    const problem = standingAmong(running, { id, host, records });
    deps.standing.note(problem);
    await alarms.set(host, problem);
    return false;
  };
}
