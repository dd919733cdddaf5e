import hooks from 'node:async_hooks';
import { join, resolve } from 'node:path';

/** A busy machine may take ten times as long as an idle one. */
const TEST_TIMEOUT_MS = 240_000;
const LOADED = join(import.meta.dirname, 'loaded-files.ts');

/**
 * Runs the test files named as arguments in this process. Node's runner follows every promise, to name the test of an
 * unhandled error. Here it follows none, which saves 8 % of the processor time: such an error still fails the run.
 */
const { createHook } = hooks;
Object.assign(hooks, { createHook: (callbacks: object) => createHook({ ...callbacks, trackPromises: false }) });

// The runner creates its hook when it is loaded.
const { run } = await import('node:test');
const { spec } = await import('node:test/reporters');
run({
  files: [...process.argv.slice(2), LOADED].map((file) => resolve(file)),
  isolation: 'none',
  timeout: TEST_TIMEOUT_MS,
  // Tests leave connections and timers open.
  forceExit: true,
})
  .on('test:summary', ({ success }) => {
    if (!success) process.exitCode = 1;
  })
  .compose(spec)
  .pipe(process.stdout);
