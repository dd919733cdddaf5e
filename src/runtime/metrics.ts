import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers });
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name, help, labelNames, registers });
  return {
    registry,
    requestTimes: new Histogram({
      name: 'till_http_request_seconds',
      help: 'How long requests took until their answer was sent, by route.',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30],
      registers,
    }),
    refusals: counter(
      'till_http_refusals_total',
      'Requests turned away before any work, by reason: rate_limited, overloaded, address_not_allowed.',
      'reason',
    ),
    replays: counter('till_idempotent_replays_total', 'Requests answered with the stored answer of an earlier one.'),
    jobRuns: counter('till_job_runs_total', 'Runs of background jobs, by outcome: ok, failed.', 'job', 'outcome'),
    alerts: gauge('till_alert', 'Alerts that are raised, by name.', 'name'),
    sends: counter(
      'till_sends_total',
      'Transactions signed by relayers: first ones of a slot, bumps with a better offer, fills of a gap, and resigned ones whose bytes were pruned.',
      'network',
      'why',
    ),
    sendsInFlight: gauge(
      'till_sends_in_flight',
      'Slots of a relayer that are taken and not used yet.',
      'network',
      'signer',
    ),
    relayedItems: counter(
      'till_relayed_items_total',
      'Items that relayers have sent, and those they left for later because a simulation refused them.',
      'network',
      'outcome',
    ),
    chainBlocks: gauge(
      'till_chain_block',
      'Numbers of blocks: the head of the chain, the last one read, the last one of final depth.',
      'network',
      'which',
    ),
    chainEvents: counter(
      'till_chain_events_total',
      'Events of the Collector by outcome: paid, refused, unknown (not ours), set_aside.',
      'network',
      'outcome',
    ),
    reorgBlocks: counter('till_reorg_blocks_total', 'Blocks that had been read and were reorganised away.', 'network'),
    leasesHeld: gauge('till_lease_held', 'Leases that this node holds: the work that it alone does.', 'lease'),
    payments: gauge('till_payments', 'All payments by status, of all nodes.', 'status'),
    oldestProcessing: gauge(
      'till_oldest_processing_seconds',
      'The age of the payment that is processing for longest; 0 if none is. Of all nodes.',
    ),
    dueItems: gauge('till_items_due', 'Accepted items that wait to be sent, of all nodes.', 'network'),
    mails: gauge(
      'till_mails',
      'Mails that wait to be sent, and mails that were given up within a day: waiting, failed. Of all nodes.',
      'state',
    ),
    endpoints: gauge(
      'till_endpoint_up',
      'Endpoints as this node knows them: 1 if up, 0 with the reason if not. An endpoint that was not asked yet is missing.',
      'network',
      'endpoint',
      'reason',
    ),
    databaseConnections: gauge(
      'till_database_connections',
      'Open connections of this node by pool (main, lists, replica) and state (in_use, idle).',
      'pool',
      'state',
    ),
    databaseWaiting: gauge(
      'till_database_waiting',
      'Statements and transactions of this node that wait for a connection.',
      'pool',
    ),
    replicaLag: gauge(
      'till_read_replica_lag_seconds',
      'The most seconds by which the read replica of this node is behind its primary; missing without an answer.',
    ),
    replicaUp: gauge(
      'till_read_replica_up',
      'Whether the read replica of this node may answer lists: 1, or 0 with the reason (silent, behind, not_a_replica, other_timeline).',
      'reason',
    ),
    listReads: counter(
      'till_list_reads_total',
      'Lists and pages of exports that a read replica may answer, by the server that answered, and why it was the primary: silent, behind, not_a_replica, other_timeline, failed.',
      'from',
      'reason',
    ),
    databaseErrors: counter(
      'till_database_errors_total',
      'Failed statements and transactions by kind: unavailable, conflict (run again), busy (a lock), other.',
      'pool',
      'kind',
    ),
    webhookAttempts: new Histogram({
      name: 'till_webhook_attempt_seconds',
      help: 'How long attempts to deliver webhooks took, by outcome: succeeded, failed.',
      labelNames: ['outcome'],
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    webhooksInFlight: gauge('till_webhooks_in_flight', 'Attempts to deliver webhooks that have no answer yet.'),
  };
}

/** Measures CPU, memory, event loop and garbage collection of this process. */
export function watchProcess({ registry }: Metrics): void {
  collectDefaultMetrics({ register: registry });
}
