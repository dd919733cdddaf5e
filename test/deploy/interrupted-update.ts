import { writeSync } from 'node:fs';
import { main } from '../../deploy/updating/update.ts';

/** `deploy/update`, killed at the first step that the first argument does not name. It prints that step. */
const [survived = '', ...args] = process.argv.slice(2);
process.exitCode = await main(args, (name) => {
  if (survived.split(',').includes(name)) return;
  writeSync(1, `killed at: ${name}\n`);
  process.kill(process.pid, 'SIGKILL');
});
