import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface Metrics {
  readonly registry: Registry;
  readonly requestTimes: Histogram<'method' | 'route' | 'status'>;
  readonly refusals: Counter<'reason'>;
  readonly replays: Counter;
  readonly jobRuns: Counter<'job' | 'outcome'>;
  readonly alerts: Gauge<'name'>;
  readonly sends: Counter<'network' | 'why'>;
  readonly sendsInFlight: Gauge<'network' | 'signer'>;
  readonly relayedItems: Counter<'network' | 'outcome'>;
  readonly chainBlocks: Gauge<'network' | 'which'>;
  readonly chainEvents: Counter<'network' | 'outcome'>;
  readonly reorgBlocks: Counter<'network'>;
  readonly leasesHeld: Gauge<'lease'>;
  readonly payments: Gauge<'status'>;
  readonly oldestProcessing: Gauge;
  readonly dueItems: Gauge<'network'>;
  readonly mails: Gauge<'state'>;
  readonly endpoints: Gauge<'network' | 'endpoint' | 'reason'>;
  readonly databaseConnections: Gauge<'pool' | 'state'>;
  readonly databaseWaiting: Gauge<'pool'>;
  readonly databaseErrors: Counter<'pool' | 'kind'>;
  readonly webhookAttempts: Histogram<'outcome'>;
  readonly webhooksInFlight: Gauge;
}

export function createMetrics(): Metrics {
  const registers = [new Registry()] as [Registry];
  const [registry] = registers;
  return {
    registry,
    requestTimes: new Histogram({
      name: 'till_http_request_seconds',
      help: 'How long requests took until their answer was sent, by route.',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30],
      registers,
    }),
    refusals: new Counter({
      name: 'till_http_refusals_total',
      help: 'Requests turned away before any work, by reason: rate_limited, overloaded, address_not_allowed.',
      labelNames: ['reason'],
      registers,
    }),
    replays: new Counter({
      name: 'till_idempotent_replays_total',
      help: 'Requests answered with the stored answer of an earlier one.',
      registers,
    }),
    jobRuns: new Counter({
      name: 'till_job_runs_total',
      help: 'Runs of background jobs, by outcome: ok, failed.',
      labelNames: ['job', 'outcome'],
      registers,
    }),
    alerts: new Gauge({
      name: 'till_alert',
      help: 'Alerts that are raised, by name.',
      labelNames: ['name'],
      registers,
    }),
    sends: new Counter({
      name: 'till_sends_total',
      help: 'Transactions signed by relayers: first ones of a nonce, bumps with a better offer, fills of a gap.',
      labelNames: ['network', 'why'],
      registers,
    }),
    sendsInFlight: new Gauge({
      name: 'till_sends_in_flight',
      help: 'Nonces of a relayer that are taken and not mined yet.',
      labelNames: ['network', 'signer'],
      registers,
    }),
    relayedItems: new Counter({
      name: 'till_relayed_items_total',
      help: 'Items that relayers have sent, and those they left for later because a simulation refused them.',
      labelNames: ['network', 'outcome'],
      registers,
    }),
    chainBlocks: new Gauge({
      name: 'till_chain_block',
      help: 'Numbers of blocks: the head of the chain, the last one read, the last one of final depth.',
      labelNames: ['network', 'which'],
      registers,
    }),
    chainEvents: new Counter({
      name: 'till_chain_events_total',
      help: 'Events of the Collector by outcome: paid, refused, unknown (not ours), set_aside.',
      labelNames: ['network', 'outcome'],
      registers,
    }),
    reorgBlocks: new Counter({
      name: 'till_reorg_blocks_total',
      help: 'Blocks that had been read and were reorganised away.',
      labelNames: ['network'],
      registers,
    }),
    leasesHeld: new Gauge({
      name: 'till_lease_held',
      help: 'Leases that this node holds: the work that it alone does.',
      labelNames: ['lease'],
      registers,
    }),
    payments: new Gauge({
      name: 'till_payments',
      help: 'All payments by status, of all nodes.',
      labelNames: ['status'],
      registers,
    }),
    oldestProcessing: new Gauge({
      name: 'till_oldest_processing_seconds',
      help: 'The age of the payment that is processing for longest; 0 if none is. Of all nodes.',
      registers,
    }),
    dueItems: new Gauge({
      name: 'till_items_due',
      help: 'Accepted items that wait to be sent, of all nodes.',
      labelNames: ['network'],
      registers,
    }),
    mails: new Gauge({
      name: 'till_mails',
      help: 'Mails that wait to be sent, and mails that were given up within a day: waiting, failed. Of all nodes.',
      labelNames: ['state'],
      registers,
    }),
    endpoints: new Gauge({
      name: 'till_endpoint_up',
      help: 'Endpoints as this node knows them: 1 if up, 0 with the reason if not. An endpoint that was not asked yet is missing.',
      labelNames: ['network', 'endpoint', 'reason'],
      registers,
    }),
    databaseConnections: new Gauge({
      name: 'till_database_connections',
      help: 'Open connections of this node by pool (main, lists) and state (in_use, idle).',
      labelNames: ['pool', 'state'],
      registers,
    }),
    databaseWaiting: new Gauge({
      name: 'till_database_waiting',
      help: 'Statements and transactions of this node that wait for a connection.',
      labelNames: ['pool'],
      registers,
    }),
    databaseErrors: new Counter({
      name: 'till_database_errors_total',
      help: 'Failed statements and transactions by kind: unavailable, conflict (run again), busy (a lock), other.',
      labelNames: ['pool', 'kind'],
      registers,
    }),
    webhookAttempts: new Histogram({
      name: 'till_webhook_attempt_seconds',
      help: 'How long attempts to deliver webhooks took, by outcome: succeeded, failed.',
      labelNames: ['outcome'],
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    webhooksInFlight: new Gauge({
      name: 'till_webhooks_in_flight',
      help: 'Attempts to deliver webhooks that have no answer yet.',
      registers,
    }),
  };
}

/** CPU, memory, event loop and garbage collection of this process. */
export function watchProcess({ registry }: Metrics): void {
  collectDefaultMetrics({ register: registry });
}
