import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { createRequestTimes, type RequestTimes } from './request-times.ts';

export interface Metrics {
  readonly registry: Registry;
  readonly requestTimes: RequestTimes;
  readonly refusals: Counter<'reason'>;
  readonly replays: Counter;
  readonly jobRuns: Counter<'job' | 'outcome'>;
  readonly alerts: Gauge<'name'>;
}

export function createMetrics(): Metrics {
  const registers = [new Registry()] as [Registry];
  const [registry] = registers;
  return {
    registry,
    requestTimes: createRequestTimes(),
    refusals: new Counter({
      name: 'till_http_refusals_total',
      help: 'Requests turned away before any work, by reason: rate_limited, overloaded.',
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
  };
}

/** CPU, memory, event loop and garbage collection of this process. */
export function watchProcess({ registry }: Metrics): void {
  collectDefaultMetrics({ register: registry });
}
