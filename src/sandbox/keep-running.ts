import { backoffMs } from '../runtime/backoff.ts';
import type { Log, World } from '../runtime/world.ts';

interface Child {
  readonly pid: number;
  /** Resolves with the reason when the process has ended. */
  readonly ended: Promise<string>;
}

interface KeptRunning<C extends Child> {
  readonly name: string;
  readonly first: C;
  readonly start: () => Promise<C>;
  readonly onEnded?: () => Promise<void>;
  readonly onRestarted: (child: C) => Promise<void> | void;
}

const RESTART = { firstMs: 100, maxMs: 5_000 };
const RESTARTS_BEFORE_FATAL = 10;
/**
 * The time after which a process counts as steady. If a steady process ends, the count of failures and the pause before a restart
 * begin again.
 */
const STEADY_MS = 60_000;

/**
 * Starts a process again whenever it ends, until the signal aborts. The pause between attempts grows to five seconds. Never rejects:
 * the gateway recovers by itself, for example when a full disk is freed.
 */
export async function keepRunning<C extends Child>(
  { world, log }: { readonly world: Pick<World, 'clock' | 'timers'>; readonly log: Log },
  { name, first, start, onEnded, onRestarted }: KeptRunning<C>,
  signal: AbortSignal,
): Promise<void> {
  const asked = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  let child = first;
  let failures = 0;
  while (!signal.aborted) {
    const startedMs = world.clock.nowMs();
    const ending = await Promise.race([child.ended, asked]);
    if (signal.aborted) return;
    failures = world.clock.nowMs() - startedMs >= STEADY_MS ? 0 : failures + 1;
    log.error({ pid: child.pid, ending }, `${name} ended by itself: starting it again`);
    await onEnded?.();
    const next = await restart(failures);
    if (next === undefined) return;
    child = next;
    await onRestarted(child);
    log.info({ pid: child.pid }, `${name} is ready again`);
  }

  async function restart(failuresBefore: number): Promise<C | undefined> {
    for (let failed = failuresBefore; ; failed += 1) {
      await world.timers.sleep(backoffMs(RESTART, failed), signal);
      if (signal.aborted) return undefined;
      try {
        return await start();
      } catch (error) {
        if (signal.aborted) return undefined;
        log[failed >= RESTARTS_BEFORE_FATAL ? 'fatal' : 'warn'](
          { err: error, failures: failed },
          `${name} did not start again`,
        );
      }
    }
  }
}
