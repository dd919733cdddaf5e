import { Worker } from 'node:worker_threads';
import type { PaperSize, Sheet } from '../../web/src/receipts/page-state.ts';
import { createByteCache } from '../runtime/byte-cache.ts';
import type { Timers } from '../runtime/world.ts';

export interface PrintJob {
  readonly sheet: Sheet;
  readonly size: PaperSize;
  readonly logo: Uint8Array | undefined;
  /** The date of the document, ISO 8601. The time of printing is not used, so that the same receipt has the same bytes. */
  readonly paidAt: string;
}

export type Printed = { readonly bytes: Uint8Array } | { readonly problem: string };

/** Prints receipts as PDF in a worker thread: a long receipt takes half a second, which would delay payments in the main thread. */
export interface Press {
  /** The file of this name, if it is in the cache or is being printed. Starts no printing. */
  find(name: string): Promise<Uint8Array> | undefined;
  /** Prints a file. Two jobs with the same name must have the same content, because files are cached by name. */
  print(name: string, job: PrintJob): Promise<Uint8Array>;
  close(): void;
}

export class PressError extends Error {}

const MAX_WAITING = 20;
const PRINT_WITHIN_MS = 15_000;
/** An idle thread ends after this time: its fonts take some 50 MB. */
const IDLE_MS = 60_000;
const MAX_HEAP_MB = 256;
/**
 * The size of the cache with the files that were printed last. Payers and shops open the same receipt more than once, and
 * strangers who have its URL any number of times.
 */
const MAX_CACHED_BYTES = 8 * 1024 * 1024;
const WORKER = new URL('./press-worker.ts', import.meta.url);

interface Waiting {
  readonly job: PrintJob;
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (error: Error) => void;
}

export function openPress(timers: Pick<Timers, 'after'>): Press {
  const waiting: Waiting[] = [];
  const cache = createByteCache(MAX_CACHED_BYTES);
  const underWay = new Map<string, Promise<Uint8Array>>();
  let worker: Worker | undefined;
  let current: { readonly end: (printed: Printed) => void } | undefined;
  let stopIdling = () => {};

  function next(): void {
    const first = waiting.shift();
    if (first === undefined) {
      stopIdling = timers.after(IDLE_MS, drop);
      return;
    }
    stopIdling();
    const { job, resolve, reject } = first;
    const cancel = timers.after(PRINT_WITHIN_MS, () => breakOff('It took too long.'));
    current = {
      end(printed) {
        cancel();
        current = undefined;
        if ('bytes' in printed) resolve(printed.bytes);
        else reject(new PressError(`The receipt cannot be printed. ${printed.problem}`));
        next();
      },
    };
    worker ??= openThread();
    worker.postMessage(job);
  }

  function openThread(): Worker {
    const thread = new Worker(WORKER, { resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
    const isOwn = () => thread === worker;
    thread.on('message', (printed: Printed) => isOwn() && current?.end(printed));
    thread.on('error', (error: Error) => isOwn() && breakOff(error.message));
    thread.on('exit', () => isOwn() && breakOff('The thread has ended.'));
    // The thread must not keep a stopping node alive.
    thread.unref();
    return thread;
  }

  /** Fails the current job. The next job starts a new thread. */
  function breakOff(problem: string): void {
    drop();
    current?.end({ problem });
  }

  function drop(): void {
    const thread = worker;
    worker = undefined;
    void thread?.terminate();
  }

  function enqueue(job: PrintJob): Promise<Uint8Array> {
    if (waiting.length >= MAX_WAITING) {
      return Promise.reject(new PressError('Too many receipts are being printed. Try again in some seconds.'));
    }
    return new Promise((resolve, reject) => {
      waiting.push({ job, resolve, reject });
      if (current === undefined) next();
    });
  }

  function find(name: string): Promise<Uint8Array> | undefined {
    const bytes = cache.get(name);
    return bytes === undefined ? underWay.get(name) : Promise.resolve(bytes);
  }

  return {
    find,
    print(name, job) {
      const known = find(name);
      if (known !== undefined) return known;
      const printing = enqueue(job)
        .then((bytes) => {
          cache.put(name, bytes);
          return bytes;
        })
        .finally(() => underWay.delete(name));
      underWay.set(name, printing);
      return printing;
    },
    close() {
      for (const { reject } of waiting.splice(0)) reject(new PressError('The node stops.'));
      breakOff('The node stops.');
      stopIdling();
    },
  };
}
