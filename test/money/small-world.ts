import { parseArgs } from 'node:util';
import { ACTS } from './acts.ts';
import { type Searched, searchAll, searchRandom } from './search.ts';

/**
 * Searches the small world. `--length 5` tries all sequences up to that length (with
 * `--first part,all` those that begin with these acts); with `--random 1000000 --length 12 --seed 7`
 * it tries so many of that length. Ends with 1 if a sequence loses, doubles, blocks or misdirects money.
 */
const { values } = parseArgs({
  options: {
    length: { type: 'string', default: '4' },
    random: { type: 'string' },
    first: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
});
const [length, seed] = [Number(values.length), Number(values.seed)];
const startedMs = performance.now();
const total = { sequences: 0, idle: 0, faults: 0 };

function report(name: string, { sequences, idle, faults }: Searched): void {
  total.sequences += sequences;
  total.idle += idle;
  total.faults += faults.length;
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  process.stdout.write(`${name}: ${sequences} sequences, ${idle} without effect, after ${seconds} s\n`);
  for (const { sequence, fault } of faults) process.stdout.write(`  ${sequence.join(' ')}: ${fault}\n`);
}

if (values.random !== undefined) report(`seed ${seed}`, searchRandom(Number(values.random), length, seed));
else for (const name of values.first?.split(',') ?? Object.keys(ACTS)) report(name, searchAll(length, [name]));
process.stdout.write(`sequences: ${total.sequences}, without effect: ${total.idle}, faults: ${total.faults}\n`);
process.exitCode = total.faults === 0 ? 0 : 1;
