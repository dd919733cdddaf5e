import { parentPort } from 'node:worker_threads';
import { drawSheet } from './draw-sheet.ts';
import type { Printed, PrintJob } from './press.ts';

/** Runs in a worker thread, and prints one job at a time in the order of the messages. */
parentPort?.on('message', async (job: PrintJob) => {
  const printed: Printed = await drawSheet(job).then(
    (bytes) => ({ bytes }),
    (error: Error) => ({ problem: error.message }),
  );
  parentPort?.postMessage(printed);
});
