import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';

const ROOT = join(import.meta.dirname, '..');
const CACHE = join(ROOT, 'node_modules/.cache/openapi-lint');

/** Rules of Redocly's recommended set that do not fit. */
const REDOCLY = {
  // The committed document names the sandbox. A gateway serves it with its own origin.
  'no-server-example.com': 'off',
  // Probes, versions and keys have no errors of their own.
  'operation-4xx-response': 'off',
} as const;

/** Rules of Spectral's recommended set that do not fit. */
const SPECTRAL = {
  // The rule of OpenAPI 3.0: only OAuth has scopes. In 3.1 each scheme may have them, and `x-scopes` declares ours.
  'oas3-operation-security-defined': 'off',
  // Fails on examples that are null. `test/e2e/openapi.test.ts` has the rule.
  'duplicated-entry-in-enum': 'off',
} as const;

if (import.meta.main) await lint();

/** Checks `openapi.json` by the recommended rules of Redocly and Spectral. Warnings count as errors. */
async function lint(): Promise<void> {
  const text = await readFile(join(ROOT, 'openapi.json'), 'utf8');
  const state = await stateOf(text);
  // The rules take many seconds, and the document seldom changes.
  if ((await readFile(CACHE, 'utf8').catch(() => '')) === state) return;
  const problems = [...(await redoclyProblems(text)), ...(await spectralProblems(text))];
  for (const problem of problems) process.stderr.write(`openapi.json: ${problem}\n`);
  if (problems.length > 0) {
    process.exitCode = 1;
    return;
  }
  await mkdir(join(CACHE, '..'), { recursive: true });
  await writeFile(CACHE, state);
}

/** Changes with the document, with the rules and with the versions of the linters. */
async function stateOf(text: string): Promise<string> {
  const hash = createHash('sha256').update(text);
  for (const name of ['scripts/lint-openapi.ts', 'package-lock.json']) hash.update(await readFile(join(ROOT, name)));
  return hash.digest('hex');
}

async function redoclyProblems(source: string): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'], rules: REDOCLY });
  const problems = await lintFromString({ source, config, absoluteRef: join(ROOT, 'openapi.json') });
  return problems.map(({ ruleId, message, location }) => `${location[0]?.pointer ?? ''}: ${message} (${ruleId})`);
}

async function spectralProblems(source: string): Promise<string[]> {
  const spectral = new spectralCore.Spectral();
  const rules = spectralRulesets.oas as object as RulesetDefinition;
  spectral.setRuleset({ extends: [[rules, 'recommended']], rules: SPECTRAL });
  const problems = await spectral.run(JSON.parse(source));
  return problems.map(({ code, message, path }) => `${path.join('/')}: ${message} (${code})`);
}
