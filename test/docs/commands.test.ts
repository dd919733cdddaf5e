import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { readSite, type SitePage } from '../../scripts/guides/site-files.ts';
import { GLOBAL_OPTIONS, readCommandLine, UsageError } from '../../src/cli/command-line.ts';
import { REGISTRY } from '../registry.ts';
import { BLOCKS, codeBlocksOf } from './code-blocks.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');

describe('the code of the documentation', () => {
  let pages: SitePage[];
  before(async () => {
    pages = (await readSite(ROOT)).flatMap((chapter) => chapter.pages);
  });

  it('is run by a named test, or has a reason why not', () => {
    const shown = pages.flatMap(({ path, text }) => {
      const languages = new Set(codeBlocksOf(text).flatMap(({ language }) => (language === '' ? [] : [language])));
      return languages.size === 0 ? [] : [[path, [...languages].sort()]];
    });
    const listed = Object.entries(BLOCKS).map(([path, languages]) => [path, Object.keys(languages).sort()]);
    assert.deepEqual(Object.fromEntries(listed), Object.fromEntries(shown));
    for (const [path, languages] of Object.entries(BLOCKS)) {
      for (const run of Object.values(languages)) {
        if ('because' in run) {
          for (const [file] of run.because.matchAll(/\btest\/[\w./-]+\.ts/g))
            assert.ok(existsSync(join(ROOT, file)), file);
        } else if (run.by !== 'test/docs/commands.test.ts') {
          assert.ok(
            read(run.by).includes(`'${path}'`) || read(run.by).includes(path),
            `${run.by} does not read ${path}`,
          );
        }
      }
    }
  });

  it('calls commands of Till that exist, with options that they have', () => {
    const lines = pages.flatMap(({ path, text }) => commandLinesOf(text).map((line) => ({ path, line })));
    const problems = lines.flatMap(({ path, line }) =>
      problemsOf(line).map((problem) => `${path}: ${line}: ${problem}`),
    );
    assert.deepEqual(problems, []);
    assert.ok(lines.length > 30, String(lines.length));
  });

  it('names commands of Till in its sentences that exist, with options that they have', () => {
    const named = pages.flatMap(({ path, text }) =>
      [...text.replaceAll(/^ *```.*?^ *```$/gms, '').matchAll(NAMED)].map(([, words = '']) => ({
        path,
        line: words.replaceAll(/\s+/g, ' '),
      })),
    );
    const problems = named.flatMap(({ path, line }) => {
      const words = line.split(' ').slice(0, 2);
      const topic = topicOf(words) ?? topicOf(words.slice(0, 1));
      if (topic === undefined) return [`${path}: ${line}: no such command`];
      if (typeof topic === 'string') return [];
      return [...line.matchAll(/(?<= |\[)--([a-z-]+)/g)].flatMap(([, name = '']) =>
        name in topic.options || name in GLOBAL_OPTIONS ? [] : [`${path}: ${line}: no option --${name}`],
      );
    });
    assert.deepEqual(problems, []);
    assert.ok(named.length > 50, String(named.length));
  });

  it('calls scripts of npm that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const missing = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/\bnpm run (?:--silent )?(\w[\w:-]*)/g)].flatMap(([, name = '']) =>
        name in scripts ? [] : [`${path}: npm run ${name}`],
      ),
    );
    assert.deepEqual(missing, []);
  });
});

/** The lines in blocks of code that call `npm run till --`, without comments and what follows a pipe. */
function commandLinesOf(text: string): string[] {
  return codeBlocksOf(text).flatMap(({ code }) =>
    code
      .replaceAll(/\\\n\s*/g, '')
      .split('\n')
      .flatMap((line) => /npm run (?:--silent )?till -- (.*)/.exec(line)?.[1] ?? [])
      .map((line) => line.replace(/\s+#.*$|\s[|>]\s.*$/, '')),
  );
}

/** A command in a sentence: `till keys list` or `npm run till -- keys list`. */
const NAMED = /`(?:npm run (?:--silent )?till -- |till )(?!<|--|…)([^`]+)`/g;

/** A value for each placeholder, and the whole of each line whose parts are optional. */
function filledIn(line: string): string[] {
  const id = '01KHRZ5Q8MB2N4P6R8T0V2X4Z6';
  const text = line
    .replaceAll(/[[\]]/g, '')
    .replaceAll(/\b(prtn|mrch|key)_…/g, `$1_${id}`)
    .replaceAll('--merchant <id>', `--merchant mrch_${id}`)
    .replaceAll('<block>', '1')
    .replaceAll('--tx 0x…', `--tx 0x${'12'.repeat(32)}`)
    .replaceAll(':0x…', ':0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed');
  return [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
}

function problemsOf(line: string): readonly string[] {
  try {
    readCommandLine(filledIn(line), Date.parse('2026-11-15T12:00:00Z'), REGISTRY);
    return [];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return error.problems;
  }
}

function topicOf(words: readonly string[]) {
  try {
    const line = readCommandLine([...words, '--help'], 0, REGISTRY);
    return 'help' in line ? line.help : undefined;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return undefined;
  }
}
