import type { CommandDeps } from '../actions/command.ts';
import { shiftClock } from '../runtime/shifted-clock.ts';
import type { Clock, Log } from '../runtime/world.ts';
import { findClockShift } from '../store/plumbing/sandbox-clock.ts';

/** The time of this sandbox: that of the database, and the shift that all its nodes read. */
export interface SandboxTime {
  readonly clock: Clock;
  /** Reads the shift now. */
  look(): Promise<void>;
  stop(): Promise<void>;
}

/** Nodes agree on the time within a second. */
const LOOK_EVERY_MS = 250;

/** Follows the stored shift. Resolves when it is known. */
export async function followSandboxTime(deps: CommandDeps & { readonly log: Log }): Promise<SandboxTime> {
  const { db, world, log } = deps;
  const stop = new AbortController();
  let aheadMs = 0;
  const look = async () => {
    // Answers may overtake each other, and time does not go back.
    aheadMs = Math.max(aheadMs, (await findClockShift(db.sql)).aheadMs);
  };
  const lookForever = async () => {
    while (!stop.signal.aborted) {
      await world.timers.sleep(LOOK_EVERY_MS, stop.signal);
      if (stop.signal.aborted) return;
      await look().catch((error: unknown) => log.debug({ err: error }, 'the clock of the sandbox could not be read'));
    }
  };
  await look();
  const looking = lookForever();
  return {
    clock: shiftClock(world.clock, () => aheadMs),
    look,
    async stop() {
      stop.abort();
      await looking;
    },
  };
}
