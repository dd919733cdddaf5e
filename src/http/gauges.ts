import { PAYMENT_STATUSES } from '../domain/payment.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { unshifted } from '../runtime/shifted-clock.ts';
import { readOpenWork } from '../store/chain/sent-items.ts';
import { countOpenMails } from '../store/mail/mails.ts';
import { countPayments } from '../store/payments/payment-stats.ts';
import { listAlerts } from '../store/plumbing/alerts.ts';
import type { Database } from '../store/plumbing/database.ts';
import type { PoolLoad } from '../store/plumbing/pool.ts';
import type { Replica } from '../store/plumbing/replica.ts';
import type { HttpDeps } from './deps.ts';

export type GaugeDeps = Pick<HttpDeps, 'db' | 'chains' | 'world'> & {
  readonly metrics: Metrics;
  readonly listDb: Pick<Database, 'sql' | 'load'>;
  readonly replica?: Pick<Replica, 'state' | 'load'> | undefined;
};

/** The counts of payments, items and mails are read at most this often, because several monitors may ask for them. */
const COUNT_EVERY_MS = 5_000;
const DAY_MS = 86_400_000;

/** Sets the gauges whenever metrics are requested. A node that cannot reach the database still exports the other metrics. */
export function createGauges(deps: GaugeDeps): () => Promise<void> {
  const { metrics, world } = deps;
  let countedAtMs = Number.NEGATIVE_INFINITY;

  async function countWork(): Promise<void> {
    const nowMs = world.clock.nowMs();
    if (Math.abs(nowMs - countedAtMs) < COUNT_EVERY_MS) return;
    const { sql } = deps.listDb;
    const since = new Date(unshifted(world.clock).nowMs() - DAY_MS);
    const [payments, work, mails] = await Promise.all([
      countPayments(sql),
      readOpenWork(sql),
      countOpenMails(sql, since),
    ]);
    const counts = new Map(payments.map(({ status, count }) => [status, count]));
    for (const status of PAYMENT_STATUSES) metrics.payments.set({ status }, counts.get(status) ?? 0);
    const oldestMs = work.oldestProcessing?.getTime() ?? nowMs;
    metrics.oldestProcessing.set(Math.max(0, nowMs - oldestMs) / 1_000);
    metrics.dueItems.reset();
    for (const { chain } of deps.chains.list()) metrics.dueItems.set({ network: chain.network.chainId }, 0);
    for (const { network, count } of work.dueItems) metrics.dueItems.set({ network }, count);
    metrics.mails.set({ state: 'waiting' }, mails.waiting);
    metrics.mails.set({ state: 'failed' }, mails.failed);
    countedAtMs = nowMs;
  }

  async function countAlerts(): Promise<void> {
    const alerts = await listAlerts(deps.db.sql);
    metrics.alerts.reset();
    for (const { name } of alerts) metrics.alerts.inc({ name });
  }

  return async () => {
    readEndpoints(deps);
    readPools(deps);
    readReplica(deps);
    await Promise.all([countWork().catch(() => forget(metrics)), countAlerts().catch(() => metrics.alerts.reset())]);
  };
}

/** Removes gauges that could not be read, because their last numbers would look current. */
function forget({ payments, oldestProcessing, dueItems, mails }: Metrics): void {
  for (const gauge of [payments, oldestProcessing, dueItems, mails]) gauge.reset();
  oldestProcessing.remove();
}

function readEndpoints({ metrics, chains }: GaugeDeps): void {
  metrics.endpoints.reset();
  for (const { chain } of chains.list()) {
    for (const { name: endpoint, isUp, trouble } of chain.health().states) {
      if (!isUp && trouble === undefined) continue;
      metrics.endpoints.set({ network: chain.network.chainId, endpoint, reason: trouble ?? '' }, isUp ? 1 : 0);
    }
  }
}

function readPools({ metrics, db, listDb, replica }: GaugeDeps): void {
  metrics.databaseErrors.reset();
  for (const [pool, load] of [['main', db.load] as const, ['lists', listDb.load] as const]) {
    const { errors, ...rest } = load();
    readPool(metrics, pool, rest);
    for (const [kind, count] of Object.entries(errors)) metrics.databaseErrors.inc({ pool, kind }, count);
  }
  // Errors of the replica are not counted, because they fail no request: the primary answers.
  if (replica !== undefined) readPool(metrics, 'replica', replica.load());
}

function readPool(metrics: Metrics, pool: string, { inUse, idle, waiting }: PoolLoad): void {
  metrics.databaseConnections.set({ pool, state: 'in_use' }, inUse);
  metrics.databaseConnections.set({ pool, state: 'idle' }, idle);
  metrics.databaseWaiting.set({ pool }, waiting);
}

function readReplica({ metrics, replica }: GaugeDeps): void {
  metrics.replicaUp.reset();
  metrics.replicaLag.remove();
  if (replica === undefined) return;
  const { refusal, lagMs } = replica.state();
  metrics.replicaUp.set({ reason: refusal ?? '' }, refusal === undefined ? 1 : 0);
  if (lagMs !== undefined) metrics.replicaLag.set(lagMs / 1_000);
}
