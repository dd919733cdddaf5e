import { createMetrics } from '../src/runtime/metrics.ts';

/** The page of metrics, from their definitions. */
export function metricsPage(): string {
  const rows = createMetrics()
    .registry.getMetricsAsArray()
    .filter(({ name }) => name.startsWith('till_'))
    .map((metric) => {
      const { name, help, type, labelNames = [] } = metric as unknown as Defined;
      return `| \`${name}\` | ${type} | ${labelNames.map((label) => `\`${label}\``).join(', ')} | ${help.replaceAll('|', '\\|')} |`;
    });
  return `# Metrics

Each node answers \`GET /metrics\` on its private port (\`METRICS_PORT\`) in the text format of Prometheus. The metrics of Node.js itself are there as
well: \`process_*\` and \`nodejs_*\`. [Running Till](operating.md#metrics) names the metrics that are worth an alert, and the meaning and remedy of
[each alert](operating.md#watching).

| metric | kind | labels | meaning |
|---|---|---|---|
${rows.join('\n')}

This page is generated from \`src/runtime/metrics.ts\`.
`;
}

/** The fields of a definition that the types of the library hide. */
interface Defined {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labelNames?: readonly string[];
}
