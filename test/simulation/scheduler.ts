import type { World } from '../../src/runtime/world.ts';
import type { Seeded } from './seeded.ts';

/** A participant whose work the scheduler orders: a node, or a client outside the gateway. */
export interface Participant {
  readonly name: string;
  /** False after a crash: nothing of it ever runs again. */
  isAlive: boolean;
  /** Nothing of it runs before this time, as for a stopped process. */
  pausedUntilMs: number;
  /** Added to the time, for this participant's clock alone. */
  skewMs: number;
}

interface Work {
  readonly by: Participant;
  readonly label: string;
  readonly run: () => void;
}

interface Timer extends Work {
  readonly atMs: number;
}

/** Orders everything that happens in a run. One decision of the seed is one step. */
export interface Scheduler {
  readonly nowMs: () => number;
  readonly steps: () => number;
  /** Lines of the trace, the newest last. */
  readonly trace: readonly string[];
  /** Queues work that may run now, in an order that the seed decides. Prompt work is never slow. */
  ready(by: Participant, label: string, run: () => void, isPrompt?: boolean): void;
  /** Resolves when the seed lets this work go on. */
  pass(by: Participant, label: string): Promise<void>;
  after(by: Participant, delayMs: number, run: () => void, label?: string): () => void;
  sleep(by: Participant, delayMs: number): Promise<void>;
  /** Resolves after this many steps of others, so in the middle of some work. */
  afterSteps(count: number): Promise<void>;
  /** The participant of the last step. */
  readonly lastToAct: () => Participant | undefined;
  note(text: string): void;
  /** The clock, the timers and the randomness of a participant. */
  worldOf(by: Participant, random: Seeded): World;
  /** Runs one step. Returns false if nothing is left to do. */
  step(): boolean;
  /**
   * Time moves in strides of at least this length: timers that fall into a stride run in the seed's order. No stride passes
   * the given time.
   */
  setStride(ms: number, notBeyondMs?: number): void;
}

/** The chance that time passes although work is ready: everything else is slow for a moment. */
const IMPATIENCE = 0.01;
/** The chance that some work is slow, such as a statement on a busy server, and how slow it can be. */
const SLOW = 0.03;
const SLOW_MS = 3_000;
const START_MS = Date.UTC(2026, 2, 1);

export function createScheduler(random: Seeded): Scheduler {
  const queue: Work[] = [];
  const timers: Timer[] = [];
  const trace: string[] = [];
  let nowMs = START_MS;
  let steps = 0;
  let strideMs = 0;
  let notBeyondMs = Number.POSITIVE_INFINITY;
  let last: Participant | undefined;
  const interruptions: { readonly atStep: number; readonly resolve: () => void }[] = [];

  const canRun = ({ by }: Work) => by.isAlive && by.pausedUntilMs <= nowMs;
  const note = (text: string) => void trace.push(`${((nowMs - START_MS) / 1000).toFixed(3)}s ${text}`);

  function ready(by: Participant, label: string, run: () => void, isPrompt = false): void {
    if (!by.isAlive) return;
    if (!isPrompt && random.chance(SLOW)) after(by, random.between(1, SLOW_MS), run, label);
    else queue.push({ by, label, run });
  }

  function after(by: Participant, delayMs: number, run: () => void, label = 'a timer'): () => void {
    const timer: Timer = { by, label, run, atMs: nowMs + Math.max(0, delayMs) };
    if (by.isAlive) timers.push(timer);
    return () => {
      const place = timers.indexOf(timer);
      if (place >= 0) timers.splice(place, 1);
    };
  }

  const dueAt = ({ atMs, by }: Timer) => Math.max(atMs, by.pausedUntilMs);

  /** Moves time to the next timer, and takes one of those that are due then. */
  function nextTimer(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of timers) {
      if (timer.by.isAlive && (first === undefined || dueAt(timer) < dueAt(first))) first = timer;
    }
    if (first === undefined) return undefined;
    if (dueAt(first) > nowMs) {
      const strode = dueAt(first) + (strideMs > 0 ? random.below(strideMs) : 0);
      nowMs = Math.max(dueAt(first), Math.min(strode, notBeyondMs));
    }
    const due = timers.filter((timer) => timer.by.isAlive && dueAt(timer) <= nowMs);
    const chosen = random.pick(due);
    timers.splice(timers.indexOf(chosen), 1);
    return chosen;
  }

  function nextReady(): Work | undefined {
    const runnable = queue.filter(canRun);
    if (runnable.length === 0 || random.chance(IMPATIENCE)) return undefined;
    const chosen = random.pick(runnable);
    queue.splice(queue.indexOf(chosen), 1);
    return chosen;
  }

  function dropDead(list: Work[]): void {
    for (let index = list.length - 1; index >= 0; index -= 1) if (!list[index]?.by.isAlive) list.splice(index, 1);
  }

  return {
    nowMs: () => nowMs,
    steps: () => steps,
    trace,
    ready,
    pass: (by, label) => new Promise((resolve) => ready(by, label, resolve)),
    after,
    sleep: (by, delayMs) => new Promise((resolve) => void after(by, delayMs, resolve)),
    afterSteps: (count) => new Promise((resolve) => void interruptions.push({ atStep: steps + count, resolve })),
    lastToAct: () => last,
    note,
    worldOf: (by, stream) => ({
      clock: { nowMs: () => nowMs + by.skewMs },
      timers: {
        after: (delayMs, run) => after(by, delayMs, run),
        soon: (run) => ready(by, 'a batch begins', run),
        sleep: (delayMs, signal) =>
          new Promise((resolve) => {
            if (signal?.aborted) return resolve();
            const cancel = after(by, delayMs, finish, 'a sleep ends');
            function finish() {
              cancel();
              signal?.removeEventListener('abort', finish);
              resolve();
            }
            signal?.addEventListener('abort', finish, { once: true });
          }),
      },
      random: { bytes: (count) => stream.bytes(count) },
    }),
    step() {
      dropDead(queue);
      dropDead(timers);
      const place = interruptions.findIndex(({ atStep }) => atStep <= steps);
      if (place >= 0) {
        for (const { resolve } of interruptions.splice(place, 1)) resolve();
        return true;
      }
      const work = nextReady() ?? nextTimer() ?? nextReady();
      if (work === undefined) return false;
      steps += 1;
      last = work.by;
      note(`${work.by.name}: ${work.label}`);
      work.run();
      return true;
    },
    setStride: (ms, until = Number.POSITIVE_INFINITY) => {
      strideMs = ms;
      notBeyondMs = until;
    },
  };
}
