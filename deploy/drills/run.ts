import { layoutTable } from '../../src/cli/table.ts';
import type { Drill, Step } from './drill.ts';
import { DRILLS } from './drills.ts';

const COLUMNS = [
  { title: 'step', cell: ({ step }: Step) => step },
  { title: 'result', cell: ({ result }: Step) => result },
  { title: '', cell: ({ isGood }: Step) => (isGood === undefined ? 'not judged' : isGood ? 'passed' : 'FAILED') },
];

if (import.meta.main) {
  const args = process.argv.slice(2);
  const isShort = args.includes('--short');
  const names = args.filter((arg) => !arg.startsWith('--'));
  const unknown = names.filter((name) => DRILLS.every((drill) => drill.name !== name));
  if (unknown.length > 0) {
    process.stderr.write(
      `No such drill: ${unknown.join(', ')}. There are ${DRILLS.map(({ name }) => name).join(', ')}.\n`,
    );
    process.exit(2);
  }
  let isGood = true;
  for (const drill of DRILLS.filter(({ name }) => names.length === 0 || names.includes(name))) {
    isGood = (await runDrill(drill, isShort)) && isGood;
  }
  process.exit(isGood ? 0 : 1);
}

/** Prints the table of a drill. False if a step failed. A drill that cannot run has neither passed nor failed. */
async function runDrill(drill: Drill, isShort: boolean): Promise<boolean> {
  process.stdout.write(`\n${drill.title}\n\n`);
  const missing = drill.missing();
  if (missing) {
    process.stdout.write(`not run: ${missing}\n`);
    return true;
  }
  const steps = await drill.run({ isShort, print: (text) => void process.stderr.write(`${text}\n`) });
  process.stdout.write(`${layoutTable(steps, COLUMNS)}\n`);
  return steps.every((step) => step.isGood !== false);
}
