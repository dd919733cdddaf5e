import type { CommandDeps } from '../actions/command.ts';
import { shiftClock } from '../runtime/shifted-clock.ts';
import type { Clock, Log } from '../runtime/world.ts';
import { findClockShift } from '../store/plumbing/sandbox-clock.ts';

/** The clock of the sandbox: the database's time plus the stored shift, which all nodes read. */
export interface SandboxTime {
  readonly clock: Clock;
  refresh(): Promise<void>;
  stop(): Promise<void>;
}

/** The pause between two readings of the stored shift. It is short, so that nodes agree on the time within a second. */
const READ_EVERY_MS = 250;

/** Follows the stored shift. Resolves when the shift has been read for the first time. */
export async function followSandboxTime(deps: CommandDeps & { readonly log: Log }): Promise<SandboxTime> {
  const { db, world, log } = deps;
  const stop = new AbortController();
  let aheadMs = 0;
  const refresh = async () => {
    // Answers may arrive out of order, and the shift never shrinks.
    aheadMs = Math.max(aheadMs, (await findClockShift(db.sql)).aheadMs);
  };
  const followForever = async () => {
    while (!stop.signal.aborted) {
      await world.timers.sleep(READ_EVERY_MS, stop.signal);
      if (stop.signal.aborted) return;
      await refresh().catch((error: unknown) =>
        log.debug({ err: error }, 'the clock of the sandbox could not be read'),
      );
    }
  };
  await refresh();
  const following = followForever();
  return {
    clock: shiftClock(world.clock, () => aheadMs),
    refresh,
    async stop() {
      stop.abort();
      await following;
    },
  };
}
