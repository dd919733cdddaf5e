import type { Chains } from '../../../chains/chains.ts';
import type { Asked, LeaseFacts, NodeFacts, SecretFacts, WebhookFacts } from '../../../domain/doctor/facts.ts';
import type { Reader } from '../../../store/plumbing/database.ts';
import { isHeld, listLeaseHolders } from '../../../store/plumbing/leases.ts';
import { listNodes } from '../../../store/plumbing/nodes.ts';
import { listFailingEndpoints } from '../../../store/webhooks/endpoints.ts';
import { NODE_GONE_MS } from '../../announce-node.ts';
import { newestSecretId } from '../../open-receipt-key.ts';
import { expectedLeases } from '../check-work.ts';

const MAX_WEBHOOKS = 50;

/** Compares the master secrets of this machine and of the running nodes with the master secret of the database. */
export async function examineSecret(
  sql: Reader,
  { secretIds, nowMs }: { secretIds: Asked<readonly string[]>; nowMs: number },
): Promise<SecretFacts> {
  const [newest, nodes] = await Promise.all([newestSecretId(sql), listNodes(sql)]);
  const up = nodes.filter(({ seenAt }) => nowMs - seenAt.getTime() < NODE_GONE_MS);
  const opens: Asked<boolean | null> =
    newest === undefined
      ? { known: null }
      : 'unknown' in secretIds
        ? secretIds
        : { known: secretIds.known.includes(newest) };
  return {
    opens,
    nodes: up.map(({ host, id, secretIds: ids }) => {
      return { host, id, knowsNewest: newest === undefined || (ids === null ? null : ids.includes(newest)) };
    }),
  };
}

export async function examineNodes(
  sql: Reader,
  { roles, nowMs }: { roles: readonly string[]; nowMs: number },
): Promise<NodeFacts> {
  const nodes = (await listNodes(sql)).map(({ host, roles: own, startedAt, seenAt }) => {
    return { host, roles: own, startedAt, seenAt, isUp: nowMs - seenAt.getTime() < NODE_GONE_MS };
  });
  const present = new Set(nodes.filter(({ isUp }) => isUp).flatMap((node) => node.roles));
  return { nodes, missingRoles: roles.filter((role) => !present.has(role)) };
}

/** The leases that nodes must hold, and all other leases that were ever taken. */
export async function examineLeases(
  sql: Reader,
  { chains, nowMs }: { chains: Chains; nowMs: number },
): Promise<LeaseFacts[]> {
  const leases = await listLeaseHolders(sql);
  const expected = new Map(expectedLeases(chains));
  const never = [...expected.keys()].filter((name) => !leases.some((lease) => lease.name === name));
  return [
    ...leases.map(({ name, holder, since }) => {
      return { name, holder, since, work: expected.get(name) ?? null, isHeld: isHeld(leases, name, nowMs) };
    }),
    ...never.map((name) => ({ name, holder: '', since: null, work: expected.get(name) ?? null, isHeld: false })),
  ];
}

export async function examineWebhooks(sql: Reader): Promise<WebhookFacts[]> {
  const failing = await listFailingEndpoints(sql, MAX_WEBHOOKS);
  return failing.map(({ url, answerStatus, problem, ...endpoint }) => ({
    ...endpoint,
    origin: URL.canParse(url) ? new URL(url).origin : 'an unreadable URL',
    problem: problem ?? (answerStatus === null ? null : `HTTP status ${answerStatus}`),
  }));
}
