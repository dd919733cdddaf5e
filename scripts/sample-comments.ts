import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/**
 * Prints comments of the source by a seeded choice, each with the code below it, for a reader who knows the field and not the code:
 * `node scripts/sample-comments.ts --seed 7 --count 24`. The same seed and the same source give the same comments.
 */

const ROOT = join(import.meta.dirname, '..');
/** Comments below this length name a thing, and have nothing to misread. */
const SHORTEST = 40;
const LINES_OF_CODE = 3;

interface Comment {
  readonly file: string;
  readonly line: number;
  readonly text: string;
  readonly code: string;
}

const { values } = parseArgs({ options: { seed: { type: 'string' }, count: { type: 'string', default: '60' } } });
const seed = values.seed ?? '1';
const comments = globSync(['src/**/*.ts', 'web/src/**/*.{ts,tsx}', 'sdk/src/**/*.ts'], {
  cwd: ROOT,
  // `api-types.ts` is generated.
  exclude: (name) => name.endsWith('.test.ts') || name === 'node_modules' || name === 'api-types.ts',
})
  .sort()
  .flatMap(commentsOf);
const chosen = comments.toSorted((a, b) => rank(a).localeCompare(rank(b))).slice(0, Number(values.count));
process.stdout.write(`${chosen.length} of ${comments.length} comments, seed ${seed}\n\n`);
for (const { file, line, text, code } of chosen) process.stdout.write(`${file}:${line}\n${text}\n${code}\n\n`);

function commentsOf(file: string): Comment[] {
  const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
  const found: Comment[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const end = endOfComment(lines, at);
    if (end === at) continue;
    const text = lines.slice(at, end).join('\n');
    if (text.length >= SHORTEST) {
      found.push({ file, line: at + 1, text, code: lines.slice(end, end + LINES_OF_CODE).join('\n') });
    }
    at = end - 1;
  }
  return found;
}

/** The line after the comment that begins at `from`; `from` itself if none begins there. */
function endOfComment(lines: readonly string[], from: number): number {
  const first = lines[from]?.trim() ?? '';
  let end = from;
  if (first.startsWith('/*')) {
    while (end < lines.length && !lines[end]?.includes('*/')) end += 1;
    return end + 1;
  }
  while (lines[end]?.trim().startsWith('//')) end += 1;
  return end;
}

function rank({ file, text }: Comment): string {
  return createHash('sha256').update(`${seed}\n${file}\n${text}`).digest('hex');
}
