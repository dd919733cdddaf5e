import { main } from '../../deploy/updating/update.ts';

/** `deploy/update`, killed at the step with the number that the first argument names. It prints the steps it has come to. */
const [at, ...args] = process.argv.slice(2);
let count = 0;
process.exitCode = await main(args, (name) => {
  count += 1;
  if (count === Number(at)) process.kill(process.pid, 'SIGKILL');
  process.stdout.write(`step: ${name}\n`);
});
