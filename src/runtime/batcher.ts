import type { Tracing } from './tracing.ts';
import type { Timers, World } from './world.ts';

/** Runs many small items in few batches. Items that arrive while a batch runs form the next batch. Without load no item waits. */
export type Batcher<Item, Result> = (item: Item) => Promise<Result>;

export interface BatcherInput<Item, Result> {
  /** Carries out a batch. Gives one result per item, in order. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly maxItems: number;
  readonly maxConcurrent: number;
  /**
   * The number of event-loop turns for which a batch collects items; one by default. A turn is long under load and short otherwise,
   * so collecting makes batches bigger under load and costs almost nothing without load.
   */
  readonly turns?: number;
  /** True if the error may concern a single item. Then the items are retried one by one, so that a bad item fails alone. */
  readonly isItemsFault: (error: unknown) => boolean;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

export function createBatcher<Item, Result>(
  { timers, tracing }: Pick<World, 'timers' | 'tracing'>,
  input: BatcherInput<Item, Result>,
): Batcher<Item, Result> {
  return tracing === undefined ? batcherOf(timers, input) : tracedBatcher(timers, tracing, input);
}

/** A batcher that runs each batch in the span of its first item. Otherwise a batch would run in the span of the previous batch. */
function tracedBatcher<Item, Result>(
  timers: Timers,
  tracing: Tracing,
  input: BatcherInput<Item, Result>,
): Batcher<Item, Result> {
  type Held = { readonly item: Item; readonly within: ReturnType<Tracing['here']> };
  const add = batcherOf<Held, Result>(timers, {
    ...input,
    run: (held) => {
      const work = () => input.run(held.map(({ item }) => item));
      return held[0]?.within(work) ?? work();
    },
  });
  return (item) => add({ item, within: tracing.here() });
}

function batcherOf<Item, Result>(timers: Timers, input: BatcherInput<Item, Result>): Batcher<Item, Result> {
  const { turns = 1 } = input;
  const queue: Waiting<Item, Result>[] = [];
  let running = 0;
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled || running >= input.maxConcurrent || queue.length === 0) return;
    isScheduled = true;
    gather(turns);
  }

  function gather(turnsLeft: number): void {
    timers.soon(() => {
      if (turnsLeft > 1 && queue.length < input.maxItems) gather(turnsLeft - 1);
      else start();
    });
  }

  function start(): void {
    isScheduled = false;
    void flush(queue.splice(0, input.maxItems));
    schedule();
  }

  async function flush(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    running += 1;
    try {
      await runBatch(batch);
    } finally {
      running -= 1;
      schedule();
    }
  }

  async function runBatch(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await input.run(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => {
        resolve(results[index] as Result);
      });
    } catch (error) {
      if (batch.length > 1 && input.isItemsFault(error)) {
        for (const waiting of batch) await runBatch([waiting]);
        return;
      }
      for (const { reject } of batch) reject(error);
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      queue.push({ item, resolve, reject });
      schedule();
    });
}
