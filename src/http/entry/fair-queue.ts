/**
 * Shares a few slots for running work (`places`) between callers. A caller has at most `perCaller` slots at once. Free slots go
 * to the waiting callers in rotation, so a caller with many requests delays a caller with one request by one of its requests at
 * most.
 */
export interface FairQueue {
  /** Runs the work as soon as a slot is free. Returns undefined, and runs nothing, if too many requests of the caller wait. */
  run<T>(caller: string, work: () => Promise<T>): Promise<T> | undefined;
}

export interface FairQueueInput {
  readonly places: number;
  readonly perCaller: number;
  /** The most requests of one caller that may wait for a slot. */
  readonly waitingPerCaller: number;
}

interface Line {
  running: number;
  readonly waiting: (() => void)[];
}

export function createFairQueue({ places, perCaller, waitingPerCaller }: FairQueueInput): FairQueue {
  /** The queues of the callers, with the next caller first. A caller that gets a slot, or returns one, moves to the end. */
  const lines = new Map<string, Line>();
  let free = places;

  function lineOf(caller: string): Line {
    const known = lines.get(caller);
    if (known !== undefined) return known;
    const line: Line = { running: 0, waiting: [] };
    lines.set(caller, line);
    return line;
  }

  function goToEnd(caller: string, line: Line): void {
    lines.delete(caller);
    lines.set(caller, line);
  }

  function forgetIdle(caller: string, line: Line): void {
    if (line.running === 0 && line.waiting.length === 0) lines.delete(caller);
  }

  function takePlaces(): void {
    for (const [caller, line] of [...lines]) {
      if (free === 0) return;
      if (line.running >= perCaller) continue;
      const start = line.waiting.shift();
      if (start === undefined) continue;
      goToEnd(caller, line);
      line.running += 1;
      free -= 1;
      start();
    }
  }

  function leave(caller: string, line: Line): void {
    line.running -= 1;
    free += 1;
    goToEnd(caller, line);
    takePlaces();
    forgetIdle(caller, line);
  }

  return {
    run(caller, work) {
      const line = lineOf(caller);
      const mustWait = free === 0 || line.running >= perCaller;
      if (mustWait && line.waiting.length >= waitingPerCaller) {
        forgetIdle(caller, line);
        return undefined;
      }
      const turn = new Promise<void>((resolve) => line.waiting.push(resolve));
      if (!mustWait) takePlaces();
      return turn.then(work).finally(() => leave(caller, line));
    },
  };
}
