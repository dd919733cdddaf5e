import { resolve } from 'node:path';
import { it } from 'node:test';

/** Node's runner forgets the error of a file that fails to load after its first test. Importing the file again repeats the error. */
it('has loaded every file', async () => {
  for (const file of process.argv.slice(2)) await import(resolve(file));
});
