import { createMetrics } from '../src/runtime/metrics.ts';

/** The parts of the dashboard, in order, with the beginnings of the names of their metrics. */
const ROWS: readonly (readonly [title: string, prefixes: readonly string[]])[] = [
  ['Payments and alerts', ['till_alert', 'till_payments', 'till_oldest_processing', 'till_items_due', 'till_lease']],
  ['Requests', ['till_http', 'till_idempotent']],
  ['Networks', ['till_chain', 'till_endpoint', 'till_reorg', 'till_sends', 'till_relayed']],
  ['Webhooks and mail', ['till_webhook', 'till_mails']],
  ['Database and jobs', ['till_database', 'till_read_replica', 'till_list_reads', 'till_job']],
];

const WIDTH = 12;
const HEIGHT = 8;

export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labelNames: readonly string[];
}

/** All metrics of the gateway, as their definitions tell them. */
export function definedMetrics(): readonly Metric[] {
  // The library has the fields, and no types for them.
  return createMetrics().registry.getMetricsAsArray() as unknown as readonly Metric[];
}

/** `deploy/observability/dashboard.json`: a dashboard of Grafana with a panel for each metric. */
export function grafanaDashboard(): unknown {
  const metrics = definedMetrics();
  const left = metrics.filter(
    ({ name }) => !ROWS.some(([, prefixes]) => prefixes.some((prefix) => name.startsWith(prefix))),
  );
  if (left.length > 0) throw new Error(`No part of the dashboard has ${left.map(({ name }) => name).join(', ')}.`);
  let y = 0;
  const panels = ROWS.flatMap(([title, prefixes]) => {
    const rowY = y;
    const own = metrics.filter(({ name }) => prefixes.some((prefix) => name.startsWith(prefix)));
    y += 1 + Math.ceil(own.length / 2) * HEIGHT;
    return [
      { type: 'row', title, collapsed: false, gridPos: { x: 0, y: rowY, w: 2 * WIDTH, h: 1 }, panels: [] },
      ...own.map((metric, index) => ({
        ...panelOf(metric),
        gridPos: { x: (index % 2) * WIDTH, y: rowY + 1 + Math.floor(index / 2) * HEIGHT, w: WIDTH, h: HEIGHT },
      })),
    ];
  });
  return {
    title: 'Till',
    uid: 'till',
    tags: ['till'],
    timezone: 'browser',
    schemaVersion: 39,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [
        { name: 'source', label: 'Prometheus', type: 'datasource', query: 'prometheus' },
        {
          name: 'instance',
          label: 'Node',
          type: 'query',
          datasource: SOURCE,
          query: 'label_values(till_http_request_seconds_count, instance)',
          refresh: 2,
          multi: true,
          includeAll: true,
          allValue: '.*',
        },
      ],
    },
    panels: panels.map((panel, index) => ({ id: index + 1, ...panel })),
  };
}

/** The data source is a variable of the dashboard: each installation has its own. */
const SOURCE = { type: 'prometheus', uid: '$source' };

function panelOf(metric: Metric) {
  const { name, help } = metric;
  return {
    type: 'timeseries',
    title: name,
    description: help,
    datasource: SOURCE,
    fieldConfig: { defaults: { unit: unitOf(metric), min: 0 }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets: [{ refId: 'A', datasource: SOURCE, expr: expressionOf(metric), legendFormat: legendOf(metric) }],
  };
}

/** The labels by which lines are told apart. Routes are too many for that, and so are statuses of each route. */
function linesOf({ labelNames }: Metric): readonly string[] {
  return labelNames.filter((label) => label !== 'method' && label !== 'route');
}

/** Counts of the whole gateway are the same on every node, so the greatest of all nodes counts; a counter is added up. */
export function expressionOf(metric: Metric): string {
  const { name, type } = metric;
  const nodes = '{instance=~"$instance"}';
  const lines = linesOf(metric);
  const by = (labels: readonly string[]) => (labels.length === 0 ? '' : ` by (${labels.join(', ')})`);
  switch (type) {
    case 'counter':
      return `sum${by(lines)} (rate(${name}${nodes}[$__rate_interval]))`;
    case 'histogram':
      return `histogram_quantile(0.99, sum${by(['le', ...lines])} (rate(${name}_bucket${nodes}[$__rate_interval])))`;
    case 'gauge':
      return `max${by(lines)} (${name}${nodes})`;
  }
}

function legendOf(metric: Metric): string {
  return linesOf(metric)
    .map((label) => `{{${label}}}`)
    .join(' ');
}

function unitOf({ name, type }: Metric): string {
  if (name.endsWith('_seconds')) return 's';
  return type === 'counter' ? 'ops' : 'short';
}
