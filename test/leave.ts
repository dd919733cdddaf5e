import { after } from 'node:test';

/** More than the last report of a file needs to reach the runner. */
const LEAVE_WITHIN_MS = 3_000;

// A file whose preparation failed has left connections and timers open, and would keep the whole run waiting. The timer
// alone keeps no process alive. The runner's own `--test-force-exit` cuts off reports that are still on their way.
if (process.env.NODE_TEST_CONTEXT !== undefined) {
  after(() => void setTimeout(() => process.exit(), LEAVE_WITHIN_MS).unref());
}
