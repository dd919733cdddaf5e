import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ALERT_RULES } from '../scripts/alert-rules.ts';
import { definedMetrics, expressionOf } from '../scripts/grafana-dashboard.ts';
import { IS_LONG } from './long.ts';
import { missingPromtool, promtool } from './promtool.ts';

const TESTS = join(import.meta.dirname, '../deploy/observability/alerts.test.yml');
/** Labels that Prometheus adds. */
const ADDED = new Set(['instance', 'job', 'le']);

const metrics = new Map(definedMetrics().map((metric) => [metric.name, metric]));
const metricOf = (name: string) => metrics.get(name) ?? metrics.get(name.replace(/_(?:bucket|count|sum)$/, ''));

describe('the rules for Prometheus', () => {
  for (const { alert, expr } of ALERT_RULES) {
    it(`${alert} names metrics that exist, with labels that they have`, () => {
      for (const [, name = '', matchers = ''] of expr.matchAll(/(till_\w+)(?:\{([^}]*)\})?/g)) {
        const metric = metricOf(name);
        assert.ok(metric, `There is no metric ${name}.`);
        for (const [, label = ''] of matchers.matchAll(/(\w+)\s*[=!]/g)) {
          assert.ok(metric.labelNames.includes(label) || ADDED.has(label), `${name} has no label ${label}.`);
        }
      }
    });

    it(`${alert} has a test in which it fires`, () => {
      const cases = readFileSync(TESTS, 'utf8').split('alertname: ');
      assert.ok(cases.some((text) => new RegExp(`^${alert}\\s+exp_alerts:\\s+- exp_labels`).test(text)));
    });
  }

  const missing = IS_LONG ? missingPromtool() : 'in the long run';
  it('pass their tests', { skip: missing }, () => {
    assert.match(promtool('check', 'rules', 'alerts.yml'), new RegExp(`${ALERT_RULES.length} rules found`));
    assert.match(promtool('test', 'rules', 'alerts.test.yml'), /SUCCESS/);
  });
});

describe('the dashboard of Grafana', () => {
  it('adds up counters, and takes the greatest of all nodes for a number of the whole gateway', () => {
    const expressionFor = (name: string) => {
      const metric = metrics.get(name);
      assert.ok(metric);
      return expressionOf(metric);
    };
    assert.equal(
      expressionFor('till_sends_total'),
      'sum by (network, why) (rate(till_sends_total{instance=~"$instance"}[$__rate_interval]))',
    );
    assert.equal(expressionFor('till_payments'), 'max by (status) (till_payments{instance=~"$instance"})');
    assert.equal(
      expressionFor('till_webhook_attempt_seconds'),
      'histogram_quantile(0.99, sum by (le, outcome) (rate(till_webhook_attempt_seconds_bucket{instance=~"$instance"}[$__rate_interval])))',
    );
  });
});
