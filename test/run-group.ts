import hooks from 'node:async_hooks';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { describeFailure } from './failure-notes.ts';

/** A busy machine may take ten times as long as an idle one. */
const TEST_TIMEOUT_MS = 240_000;
const LAST = join(import.meta.dirname, 'loaded-files.ts');

/**
 * Runs the test files named as arguments in this process. Node's runner follows every promise, to name the test of an
 * unhandled error. Here it follows none, which saves 8 % of the processor time: such an error still fails the run.
 */
const { createHook } = hooks;
Object.assign(hooks, { createHook: (callbacks: object) => createHook({ ...callbacks, trackPromises: false }) });

// The runner creates its hook when it is loaded.
const { run } = await import('node:test');
const { spec } = await import('node:test/reporters');
const notes: Promise<string>[] = [];
const events = run({
  files: [...process.argv.slice(2), LAST].map((file) => resolve(file)),
  isolation: 'none',
  timeout: TEST_TIMEOUT_MS,
}).on('test:fail', ({ name }) => {
  process.exitCode = 1;
  notes.push(describeFailure(name));
});
await pipeline(events, new spec(), process.stdout, { end: false });
for (const note of await Promise.all(notes)) process.stdout.write(note);
process.exit();
