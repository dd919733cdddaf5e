import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, it } from 'node:test';

/** The rules of the house that a machine can check. ARCHITECTURE.md says why they are there. */

const ROOT = join(import.meta.dirname, '..');
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((name) => name !== '' && existsSync(join(ROOT, name)));
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');
const sources = tracked.filter((name) => /^src\/.*\.ts$/.test(name) && !/\.(test|fixture)\.ts$/.test(name));

/** What each folder of `src` may import, besides itself. Files directly in `src` are named one by one. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  chains: ['domain', 'deps.ts', 'batcher.ts'],
  rates: ['domain', 'deps.ts'],
  screening: ['domain', 'deps.ts'],
  logos: ['domain', 'deps.ts'],
  store: ['domain', 'deps.ts', 'batcher.ts'],
  actions: ['domain', 'chains', 'rates', 'screening', 'logos', 'store', 'deps.ts', 'errors.ts', 'batcher.ts'],
  http: [
    'domain',
    'chains',
    'rates',
    'screening',
    'store',
    'actions',
    'deps.ts',
    'errors.ts',
    'config.ts',
    'metrics.ts',
    'request-times.ts',
  ],
  workers: ['domain', 'chains', 'screening', 'store', 'actions', 'deps.ts', 'metrics.ts'],
  sandbox: ['domain', 'chains', 'store', 'actions', 'batcher.ts', 'deps.ts', 'system.ts'],
  cli: [
    'domain',
    'chains',
    'store',
    'actions',
    'sandbox',
    'chain-settings.ts',
    'config.ts',
    'deps.ts',
    'errors.ts',
    'log.ts',
    'system.ts',
    'environment.ts',
  ],
};

/** Which outside packages only one place may know. */
const KNOWN_BY: Readonly<Record<string, readonly string[]>> = {
  postgres: ['src/store/'],
  viem: ['src/chains/evm/', 'src/sandbox/'],
  '@nomicfoundation/edr': ['src/sandbox/'],
  fastify: ['src/http/'],
  '@fastify/cors': ['src/http/'],
  '@fastify/swagger': ['src/http/'],
  typebox: ['src/http/'],
  'prom-client': ['src/metrics.ts'],
};

function importsOf(name: string): string[] {
  return [...read(name).matchAll(/^(?:import|export)\s[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'/gms)].map(
    (match) => match[1] ?? match[2] ?? '',
  );
}

describe('the house', () => {
  it('has layers that import only what lies below them', () => {
    const wrong = sources.flatMap((name) => {
      const [, layer = ''] = name.split('/');
      const allowed = LAYERS[layer];
      if (allowed === undefined) return [];
      return importsOf(name)
        .filter((target) => target.startsWith('.'))
        .map((target) => relative(join(ROOT, 'src'), join(ROOT, dirname(name), target)))
        .filter((target) => {
          const [head = ''] = target.split('/');
          const isContract = target.startsWith('../contracts/artifacts/') && ['chains', 'sandbox'].includes(layer);
          // The one thing the server and the browser share: what the page begins with.
          const isPageState = target === '../web/src/page-state.ts' && layer === 'http';
          return head !== layer && !allowed.includes(head) && !isContract && !isPageState;
        })
        .map((target) => `${name} imports ${target}`);
    });
    assert.deepEqual(wrong, []);
  });

  it('keeps each outside package in its place', () => {
    const wrong = sources.flatMap((name) =>
      importsOf(name)
        .filter((target) => KNOWN_BY[target]?.every((place) => !name.startsWith(place)))
        .map((target) => `${name} imports ${target}`),
    );
    assert.deepEqual(wrong, []);
  });

  it('opens transactions in one place', () => {
    const openers = sources.filter((name) => /\bdb\.(begin|single)\(/.test(read(name)));
    assert.deepEqual(openers, ['src/actions/command.ts']);
  });

  it('has SQL in the store alone', () => {
    const writers = sources.filter((name) => /`\s*(select|insert into|update|delete from|with)\s/i.test(read(name)));
    assert.deepEqual(
      writers.filter((name) => !name.startsWith('src/store/')),
      [],
    );
  });

  it('reads the environment, the clock, timers and randomness only where they come in', () => {
    const outside: readonly [pattern: RegExp, places: readonly string[]][] = [
      [/\bprocess\.env\b/, ['src/environment.ts']],
      [/\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(/, ['src/system.ts']],
      [/(?<!\.)\bset(Timeout|Interval|Immediate)\(/, ['src/system.ts', 'src/main.ts']],
      [/\bMath\.random\(|\brandomBytes\(|\brandomUUID\(/, ['src/system.ts']],
    ];
    const wrong = outside.flatMap(([pattern, places]) =>
      sources
        .filter((name) => pattern.test(read(name)) && !places.includes(name))
        .map((name) => `${name}: ${pattern.source}`),
    );
    assert.deepEqual(wrong, []);
  });

  it('never lets money near a float', () => {
    const wrong = sources.filter((name) =>
      /\bparseFloat\(|\.toFixed\(|double precision|\breal not null/.test(read(name)),
    );
    assert.deepEqual(wrong, []);
  });

  it('has no dumping grounds, barrels, giants or leftovers', () => {
    const banned = tracked.filter((name) =>
      /(^|\/)(utils?|helpers?|common)(\/|\.ts$)|(Manager|Service|Impl|DTO)\.ts$|^src\/.*\/index\.ts$/.test(name),
    );
    const long = sources.filter((name) => read(name).split('\n').length > 401);
    const mark = new RegExp(
      `\\b(${['TO', 'FIX'].map((word) => (word === 'TO' ? `${word}DO` : `${word}ME`)).join('|')})\\b|\\.only\\(`,
    );
    const unfinished = tracked.filter((name) => /\.(ts|sql)$/.test(name) && mark.test(read(name)));
    const misnamed = sources.filter((name) => !/^[a-z0-9-]+(\.[a-z]+)?\.ts$/.test(name.split('/').at(-1) ?? ''));
    assert.deepEqual({ banned, long, unfinished, misnamed }, { banned: [], long: [], unfinished: [], misnamed: [] });
  });

  it('names no machine and no download host', () => {
    const path = new RegExp(`(^|[^A-Za-z0-9_.])/(${['ro', 'ho'].join('|')})(ot|me/[a-z]+)/`);
    const wrong = tracked.filter(
      (name) => !/\.(png|jpg|woff2)$/.test(name) && name !== 'package-lock.json' && path.test(read(name)),
    );
    assert.deepEqual(wrong, []);
    assert.doesNotMatch(read('package-lock.json'), /"resolved": "https?:/);
  });

  it('migrates forward only, in numbered steps', () => {
    const migrations = tracked.filter((name) => name.startsWith('migrations/')).sort();
    migrations.forEach((name, index) => {
      assert.match(name, new RegExp(`^migrations/${String(index + 1).padStart(4, '0')}_[a-z_]+\\.sql$`));
    });
  });

  it('has words that point at things that exist', () => {
    const pages = tracked.filter((name) => name.endsWith('.md'));
    const broken = pages.flatMap((name) =>
      [...read(name).matchAll(/\]\((?!https?:|#|mailto:)([^)#]+)(?:#[^)]*)?\)/g)]
        .map((match) => join(dirname(name), match[1] ?? ''))
        .filter((target) => !existsSync(join(ROOT, target)))
        .map((target) => `${name} → ${target}`),
    );
    assert.deepEqual(broken, []);
  });
});
