import type { Secrets } from '../runtime/secrets.ts';
import { unshiftedWorld } from '../runtime/shifted-clock.ts';
import { putNode } from '../store/plumbing/nodes.ts';
import { type CommandDeps, command } from './command.ts';

export interface NodeDeps extends CommandDeps {
  readonly host: string;
  readonly config: { readonly roles: readonly string[] };
  readonly secrets: Pick<Secrets, 'ids'>;
}

/** A node without an announcement for this long has stopped, or cannot reach the database. */
export const NODE_GONE_MS = 30_000;
/** Stopped nodes stay in the list for an hour, so that an operator sees them. */
const FORGOTTEN_MS = 3_600_000;

/** Announces to operators that this node runs, and with which master secrets. */
export function createAnnouncement(given: NodeDeps): () => Promise<boolean> {
  const deps = { ...given, world: unshiftedWorld(given.world) };
  const { host, world } = deps;
  const { roles } = deps.config;
  const { ids: secretIds } = deps.secrets;
  const id = Buffer.from(world.random.bytes(8)).toString('hex');
  const startedAt = new Date(world.clock.nowMs());
  return async () => {
    await command(deps, (tx, now) =>
      putNode(tx, { id, host, roles, secretIds, startedAt, seenAt: now }, new Date(now.getTime() - FORGOTTEN_MS)),
    );
    return false;
  };
}
