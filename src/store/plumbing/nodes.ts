import type { Reader, Tx } from './database.ts';

/** A running node, as the node itself has registered. */
export interface RunningNode {
  /** A random id of the node's process. */
  readonly id: string;
  readonly host: string;
  readonly roles: readonly string[];
  /** The ids of the node's master secrets. Null for a node of an older version, which does not report them. */
  readonly secretIds: readonly string[] | null;
  /** The hashes of the network records that the node has read, by CAIP-2. Null for a node of an older version. */
  readonly records: Readonly<Record<string, string>> | null;
  readonly startedAt: Date;
  readonly seenAt: Date;
}

/** Stores the node, and deletes nodes that were last seen before `goneBefore`. */
export async function putNode(tx: Tx, node: RunningNode, goneBefore: Date): Promise<void> {
  await tx`
    insert into nodes (id, host, roles, secret_ids, records, started_at, seen_at)
    values (${node.id}, ${node.host}, ${[...node.roles]}, ${node.secretIds && [...node.secretIds]},
      ${tx.json(node.records)}, ${node.startedAt}, ${node.seenAt})
    on conflict (id) do update set seen_at = excluded.seen_at`;
  await tx`delete from nodes where seen_at < ${goneBefore}`;
}

export function listNodes(db: Reader): Promise<RunningNode[]> {
  return db<RunningNode[]>`
    select id, host, to_json(roles) as roles, to_json(secret_ids) as "secretIds", records, started_at as "startedAt",
      seen_at as "seenAt" from nodes
    order by started_at, id limit 1000`;
}
