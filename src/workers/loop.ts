import { type Alarms, createAlarms } from '../actions/alarms.ts';
import type { CommandDeps } from '../actions/command.ts';
import { withJitter } from '../runtime/backoff.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { traced } from '../runtime/tracing.ts';
import type { Log } from '../runtime/world.ts';

/** A recurring job that runs on every node. Work that must not run on two nodes at once is guarded in the database. */
export interface Job {
  readonly name: string;
  readonly everyMs: number;
  /** Does a bounded piece of work. Returns true if there is more to do. */
  readonly run: () => Promise<boolean>;
}

export interface WorkerDeps extends CommandDeps {
  readonly log: Log;
  readonly metrics: Metrics;
}

const MAX_RUNS_IN_A_ROW = 100;
const FAILURES_UNTIL_ALERT = 3;

/** Starts the jobs. The returned function stops them, and waits until running jobs have ended. */
export function startJobs(deps: WorkerDeps, jobs: readonly Job[]): () => Promise<void> {
  const stop = new AbortController();
  const alarms = createAlarms(deps, 'job_failing', { isPerNode: true });
  const { tracing } = deps.world;
  const loops = jobs.map((job) => {
    const run = traced(tracing, job.run, () => ({
      name: `job ${job.name}`,
      about: { kind: 'internal', place: 'root' },
    }));
    return runForever({ ...deps, alarms }, { ...job, run }, stop.signal);
  });
  return async () => {
    stop.abort();
    await Promise.all(loops);
  };
}

async function runForever(deps: WorkerDeps & { alarms: Alarms }, job: Job, stop: AbortSignal): Promise<void> {
  let failures = 0;
  while (!stop.aborted) {
    await deps.world.timers.sleep(withJitter(deps.world, job.everyMs), stop);
    if (stop.aborted) return;
    try {
      for (let runs = 0; runs < MAX_RUNS_IN_A_ROW && !stop.aborted; runs += 1) {
        if (!(await job.run())) break;
      }
      deps.metrics.jobRuns.inc({ job: job.name, outcome: 'ok' });
      failures = 0;
    } catch (error) {
      failures += 1;
      deps.metrics.jobRuns.inc({ job: job.name, outcome: 'failed' });
      deps.log.warn({ job: job.name, failures, err: error }, 'job failed');
    }
    const isFailing = failures >= FAILURES_UNTIL_ALERT;
    const message = isFailing ? `Job ${job.name} failed ${failures} times in a row.` : undefined;
    // If the database is unreachable, the alert cannot be stored either. The log has the failures.
    await deps.alarms.set(job.name, message).catch(() => {});
  }
}
