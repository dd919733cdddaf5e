import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compare, type Figure, median, print, round } from './figures.ts';
import { makeFolder } from './temporary.ts';

const run = promisify(execFile);
const HERE = join(import.meta.dirname, '..');
const OUTPUT_BYTES = 16 * 1024 * 1024;

/**
 * Measures figures of this checkout and of another commit in turns: A B, B A, and so on. So a busy moment of the machine affects
 * both, and a change can be told from noise by its rounds.
 */
export async function measureAgainst(
  commit: string,
  { figures, rounds }: { readonly figures: readonly string[]; readonly rounds: number },
): Promise<number> {
  const there = await checkOut(commit);
  const sides = [
    { name: 'this checkout', folder: HERE, rounds: [] as (readonly Figure[])[] },
    { name: commit, folder: there, rounds: [] as (readonly Figure[])[] },
  ];
  for (let index = 0; index < rounds; index += 1) {
    for (const side of index % 2 === 0 ? sides : sides.toReversed()) {
      const measured = await measureIn(side.folder, figures);
      side.rounds.push(measured);
      print([`round ${index + 1}, ${side.name}: ${measured.map(({ name, value }) => `${name} ${value}`).join(', ')}`]);
    }
  }
  const [ours = [], theirs = []] = sides.map((side) => side.rounds);
  for (const name of new Set(ours.flat().map((figure) => figure.name))) {
    const valuesOf = (measured: readonly (readonly Figure[])[]) =>
      measured.flat().flatMap((figure) => (figure.name === name ? [figure.value] : []));
    const [here, other] = [valuesOf(ours), valuesOf(theirs)];
    if (other.length === 0) {
      print([`${name}: ${median(here)}, which ${commit} does not measure`]);
      continue;
    }
    const { ratio, byRound } = compare(here, other);
    print([
      `${name}: ${ratio} of ${commit}`,
      `  this checkout: ${here.join(' ')}, median ${round(median(here), 3)}`,
      `  ${commit}: ${other.join(' ')}, median ${round(median(other), 3)}`,
      `  ratio by round: ${byRound.join(' ')}`,
    ]);
  }
  return 0;
}

/** A clone of that commit with its packages. The peer of the paying figures is copied, which saves its install. */
async function checkOut(commit: string): Promise<string> {
  const folder = join(await makeFolder(), 'till');
  await run('git', ['clone', '--quiet', HERE, folder]);
  await run('git', ['checkout', '--quiet', '--detach', commit], { cwd: folder });
  print([`installing the packages of ${commit}`]);
  await run('npm', ['ci'], { cwd: folder, maxBuffer: OUTPUT_BYTES });
  const peer = join(HERE, 'bench/.peer');
  if (existsSync(peer)) await cp(peer, join(folder, 'bench/.peer'), { recursive: true });
  return folder;
}

async function measureIn(folder: string, figures: readonly string[]): Promise<readonly Figure[]> {
  await run('npm', ['run', '--silent', 'bench', '--', ...figures], { cwd: folder, maxBuffer: OUTPUT_BYTES });
  const results = JSON.parse(await readFile(join(folder, 'bench/results.json'), 'utf8'));
  return results.figures;
}
