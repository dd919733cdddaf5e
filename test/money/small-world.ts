import { parseArgs } from 'node:util';
import { searchAll, searchRandom } from './search.ts';

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
const found =
  values.random === undefined
    ? searchAll(length, values.first?.split(','))
    : searchRandom(Number(values.random), length, seed);
const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
process.stdout.write(`sequences: ${found.sequences}, without effect: ${found.idle}, seconds: ${seconds}\n`);
for (const { sequence, fault } of found.faults) process.stdout.write(`${sequence.join(' ')}: ${fault}\n`);
process.exitCode = found.faults.length === 0 ? 0 : 1;
