/** A rule of Prometheus. */
export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  /** How long the expression must hold. */
  readonly lasts: string;
  readonly severity: 'page' | 'ticket';
  /** The words for the person who is called. Labels of the expression stand in double braces. */
  readonly summary: string;
  /** The action to take. */
  readonly action: string;
}

/** The page of each of the gateway's own alerts. */
const RUNBOOK = 'docs/operating.md#alert-{{ $labels.name }}';

/**
 * The rules for what the gateway cannot report itself: a node that is gone, work that nobody does, a database out of reach. The
 * gateway's own alerts pass through one rule.
 */
export const ALERT_RULES: readonly AlertRule[] = [
  {
    alert: 'TillAlert',
    expr: 'max by (name) (till_alert) > 0',
    lasts: '30s',
    severity: 'page',
    summary: 'The gateway raised {{ $labels.name }}',
    action: `Read ${RUNBOOK}; \`till alerts\` says what it is about.`,
  },
  {
    alert: 'TillNodeDown',
    expr: 'up{job="till"} == 0',
    lasts: '1m',
    severity: 'page',
    summary: 'The node {{ $labels.instance }} does not answer',
    action: 'Read the log of its process. Other nodes take its work over.',
  },
  {
    alert: 'TillGone',
    expr: 'absent(up{job="till"} == 1)',
    lasts: '1m',
    severity: 'page',
    summary: 'No node answers',
    action: 'Start a node. No money is lost meanwhile; payers cannot pay.',
  },
  {
    alert: 'TillWorkUnled',
    expr: 'count by (lease) (max_over_time(till_lease_held[1d])) unless count by (lease) (till_lease_held)',
    lasts: '2m',
    severity: 'page',
    summary: 'No node does the work "{{ $labels.lease }}"',
    action:
      'Look for a node with the network in RPC_URLS and the account among its keys. A network that was taken out of use clears the alert after a day.',
  },
  {
    alert: 'TillChainUnread',
    expr: 'max by (network) (delta(till_chain_block{which="read"}[10m])) <= 0',
    lasts: '5m',
    severity: 'page',
    summary: 'No block of {{ $labels.network }} was read for ten minutes',
    action: 'Look at `till_endpoint_up` and at the alerts of the network.',
  },
  {
    alert: 'TillEndpointsFew',
    expr: 'sum by (network) (max by (network, endpoint) (till_endpoint_up)) < 2',
    lasts: '10m',
    severity: 'ticket',
    summary: 'Fewer than two endpoints of {{ $labels.network }} answer',
    action: 'Add an endpoint of another company to RPC_URLS. Facts that decide about money need two.',
  },
  {
    alert: 'TillPaymentWaits',
    expr: 'max(till_oldest_processing_seconds) > 900',
    lasts: '5m',
    severity: 'ticket',
    summary: 'A payment has been processing for more than a quarter of an hour',
    action: 'Run `till explain` with its id; `till payments list` shows the oldest ones.',
  },
  {
    alert: 'TillItemsWait',
    expr: 'min by (network) (min_over_time(till_items_due[10m])) > 0 unless sum by (network) (increase(till_sends_total[10m])) > 0',
    lasts: '1m',
    severity: 'page',
    summary: 'Signed payments of {{ $labels.network }} wait, and nothing was sent for ten minutes',
    action: 'Look at `till relayers list` and at the alerts of the network.',
  },
  {
    alert: 'TillDatabaseWaits',
    expr: 'min_over_time(till_database_waiting[1m]) > 0',
    lasts: '1m',
    severity: 'ticket',
    summary: 'Statements of {{ $labels.instance }} wait for a connection ({{ $labels.pool }})',
    action: 'Look for slow statements with `till doctor`; then raise DATABASE_POOL_SIZE.',
  },
  {
    alert: 'TillReplicaUnused',
    expr: 'max by (instance) (till_read_replica_up) == 0',
    lasts: '10m',
    severity: 'ticket',
    summary: 'The read replica of {{ $labels.instance }} answers no lists',
    action: 'Run `till doctor`, which says why. The primary answers lists meanwhile.',
  },
  {
    alert: 'TillDatabaseFails',
    expr: 'sum by (instance, kind) (rate(till_database_errors_total{kind=~"unavailable|other"}[5m])) > 0',
    lasts: '5m',
    severity: 'page',
    summary: 'Statements of {{ $labels.instance }} fail ({{ $labels.kind }})',
    action: 'Look at the log of the node and at the PostgreSQL server.',
  },
  {
    alert: 'TillRequestsFail',
    expr: 'sum(rate(till_http_request_seconds_count{status=~"5.."}[5m])) > 0.01 * sum(rate(till_http_request_seconds_count[5m]))',
    lasts: '5m',
    severity: 'page',
    summary: 'More than one request of a hundred is answered with an error of ours',
    action: 'Look in the log for the route and the request id.',
  },
  {
    alert: 'TillOverloaded',
    expr: 'sum by (instance) (rate(till_http_refusals_total{reason="overloaded"}[5m])) > 0',
    lasts: '5m',
    severity: 'ticket',
    summary: '{{ $labels.instance }} turns requests away because it has too many',
    action: 'Add a node.',
  },
  {
    alert: 'TillEventLoopSlow',
    expr: 'nodejs_eventloop_lag_p99_seconds > 0.5',
    lasts: '10m',
    severity: 'ticket',
    summary: 'The process {{ $labels.instance }} is late with everything by more than half a second',
    action: 'Look at its processor time; add a node.',
  },
];

/** `deploy/observability/alerts.yml`. */
export function alertRulesFile(): string {
  const rules = ALERT_RULES.map(
    ({ alert, expr, lasts, severity, summary, action }) => `      - alert: ${alert}
        expr: ${quoted(expr)}
        for: ${lasts}
        labels:
          severity: ${severity}
        annotations:
          summary: ${quoted(summary)}
          action: ${quoted(action)}
`,
  );
  return `# Rules for Prometheus. Made by \`npm run generate\` from scripts/alert-rules.ts: changes here are lost.
groups:
  - name: till
    rules:
${rules.join('')}`;
}

/** A string of YAML in which nothing has a special meaning. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
