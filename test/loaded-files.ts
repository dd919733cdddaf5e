import { resolve } from 'node:path';
import { after, it } from 'node:test';

/** Node's runner forgets the error of a file that fails to load after its first test. Importing the file again repeats the error. */
it('has loaded every file', async () => {
  for (const file of process.argv.slice(2)) await import(resolve(file));
});

// The last file of a group, so this is the last hook of all. The runner would report when nothing else is open, but tests
// leave connections and timers open.
after(() => {
  setImmediate(() => process.emit('beforeExit', 0));
});
