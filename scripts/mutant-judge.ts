import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import fc from 'fast-check';

/**
 * A process of `mutate-domain.ts`: it receives one mutant after the other, and answers whether a test notices it. Each mutant gets
 * modules of its own, by a query that follows every import from the test file on, and shares the packages. So a mutant takes as
 * long as the tests up to the first that fails, without the start of a process.
 */
export interface Case {
  /** From the root, with slashes. */
  readonly file: string;
  readonly code: string;
  /** The test files, in the order in which they run. */
  readonly tests: readonly string[];
}

export type Verdict =
  | { readonly is: 'caught'; readonly by: string }
  | { readonly is: 'survived' }
  | { readonly is: 'no program' };

const ROOT = pathToFileURL(join(import.meta.dirname, '..')).href;
const QUERY = '?mutant=';
/** Properties are tried with the same values for each mutant, so that a run can be repeated. */
const SEED = 7;

type Test = readonly [name: string, body: () => unknown];
const described: Test[] = [];
const stripped = new Map<string, string>();
let current: Case | undefined;
let count = 0;

Object.assign(globalThis, {
  mutantTests: {
    describe: (_name: string, body: () => void) => body(),
    it: (name: string, ...rest: readonly unknown[]) => described.push([name, rest.at(-1) as () => unknown]),
  },
});
const RUNNER = 'data:text/javascript,export const { describe, it } = globalThis.mutantTests;';

registerHooks({
  resolve(specifier, context, nextResolve) {
    const [, query] = context.parentURL?.split(QUERY) ?? [];
    if (query === undefined) return nextResolve(specifier, context);
    if (specifier === 'node:test') return { url: RUNNER, shortCircuit: true };
    const found = nextResolve(specifier, context);
    const isOurs = found.url.startsWith(ROOT) && !found.url.includes('/node_modules/');
    return isOurs ? { ...found, url: `${found.url}${QUERY}${query}` } : found;
  },
  load(url, context, nextLoad) {
    const [plain = url, query] = url.split(QUERY);
    if (query === undefined || !plain.endsWith('.ts')) return nextLoad(url, context);
    const isMutated = current !== undefined && plain === `${ROOT}/${current.file}`;
    const source = isMutated ? current?.code : withoutTypes(plain);
    return { format: 'module', source, shortCircuit: true };
  },
});

function withoutTypes(url: string): string {
  const known = stripped.get(url) ?? stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8'));
  stripped.set(url, known);
  return known;
}

async function judge({ tests }: Case): Promise<Verdict> {
  count += 1;
  for (const file of tests) {
    described.length = 0;
    try {
      await import(`${ROOT}/${file}${QUERY}${count}`);
    } catch (error) {
      return error instanceof SyntaxError && current?.file !== ''
        ? { is: 'no program' }
        : { is: 'caught', by: `${file}: ${error}` };
    }
    for (const [name, body] of [...described]) {
      try {
        await body();
      } catch {
        return { is: 'caught', by: `${file}: ${name}` };
      }
    }
  }
  return { is: 'survived' };
}

fc.configureGlobal({ seed: SEED });
process.on('message', async (received: Case) => {
  current = received;
  process.send?.(await judge(received));
});
