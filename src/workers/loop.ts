import { clearAlert, raiseAlert } from '../actions/alerts.ts';
import type { CommandDeps } from '../actions/command.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Log } from '../runtime/world.ts';

/** Something done again and again, on every node. What may not be done twice at once is guarded in the database. */
export interface Job {
  readonly name: string;
  readonly everyMs: number;
  /** Does a bounded piece of work and says whether there is more of it. */
  readonly run: () => Promise<boolean>;
}

export interface WorkerDeps extends CommandDeps {
  readonly log: Log;
  readonly metrics: Metrics;
}

const MAX_RUNS_IN_A_ROW = 100;
const FAILURES_UNTIL_ALERT = 3;

/** Starts the jobs; the returned function stops them and waits for those that are running. */
export function startJobs(deps: WorkerDeps, jobs: readonly Job[]): () => Promise<void> {
  const stop = new AbortController();
  const loops = jobs.map((job) => runForever(deps, job, stop.signal));
  return async () => {
    stop.abort();
    await Promise.all(loops);
  };
}

async function runForever(deps: WorkerDeps, job: Job, stop: AbortSignal): Promise<void> {
  let failures = 0;
  while (!stop.aborted) {
    await deps.world.timers.sleep(withJitter(deps, job.everyMs), stop);
    if (stop.aborted) return;
    try {
      for (let runs = 0; runs < MAX_RUNS_IN_A_ROW && !stop.aborted; runs += 1) {
        if (!(await job.run())) break;
      }
      deps.metrics.jobRuns.inc({ job: job.name, outcome: 'ok' });
      if (failures >= FAILURES_UNTIL_ALERT) await clearAlert(deps, { name: 'job_failing', subject: job.name });
      failures = 0;
    } catch (error) {
      failures += 1;
      deps.metrics.jobRuns.inc({ job: job.name, outcome: 'failed' });
      deps.log.warn({ job: job.name, failures, err: error }, 'job failed');
      if (failures >= FAILURES_UNTIL_ALERT) await alertAbout(deps, job, failures);
    }
  }
}

async function alertAbout(deps: WorkerDeps, job: Job, failures: number): Promise<void> {
  const alert = {
    name: 'job_failing',
    subject: job.name,
    message: `Job ${job.name} failed ${failures} times in a row.`,
  } as const;
  // With the database away the alert cannot be stored either; the log has told already.
  await raiseAlert(deps, alert).catch(() => {});
}

/** Nodes that start together must not work in step: up to a fifth more. */
function withJitter({ world }: WorkerDeps, delayMs: number): number {
  const [byte = 0] = world.random.bytes(1);
  return delayMs + (delayMs / 5) * (byte / 255);
}
