import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { networkJsonSchema } from '../src/chains/records/network-schema.ts';
import { CATALOGUE } from '../src/errors.ts';
import { buildApp } from '../src/http/app.ts';
import type { HttpDeps } from '../src/http/deps.ts';
import { createMetrics } from '../src/runtime/metrics.ts';
import { systemWorld } from '../src/runtime/system-world.ts';
import { SETTINGS } from '../src/settings/config.ts';
import { commentsOf, plainDefault } from '../src/settings/env-file.ts';
import { readConfig } from '../src/settings/read-config.ts';
import type { Setting } from '../src/settings/setting.ts';
import { alertRulesFile } from './alert-rules.ts';
import { authorisationPage } from './authorisation-page.ts';
import { commandsPage } from './commands-page.ts';
import { conformancePage } from './conformance-page.ts';
import { withEndpointWords } from './endpoint-words.ts';
import { eventsPage } from './events-page.ts';
import { expandReferences } from './expand-references.ts';
import { grafanaDashboard } from './grafana-dashboard.ts';
import { jsonText } from './json-text.ts';
import { logPage } from './log-page.ts';
import { metricsPage } from './metrics-page.ts';
import { networksPage } from './networks-page.ts';
import { roomsPage } from './rooms-page.ts';
import { scalePage } from './scale-page.ts';
import { withSecurityTables } from './security-tables.ts';

const ROOT = join(import.meta.dirname, '..');
const settings = Object.values(SETTINGS) as Setting<unknown>[];

if (import.meta.main) await generate();

/** Writes every generated file. `npm test` fails when one of them is out of date. */
async function generate(): Promise<void> {
  for (const [name, text] of await generatedFiles()) await writeFile(join(ROOT, name), text);
}

export async function generatedFiles(): Promise<[name: string, text: string][]> {
  const openApi = await openApiText();
  return [
    ['openapi.json', openApi],
    ['.env.example', envExample()],
    ['docs/configuration.md', configurationPage()],
    ['docs/errors.md', errorsPage()],
    ['docs/authorisation.md', authorisationPage(expandReferences(JSON.parse(openApi)))],
    ['docs/events.md', eventsPage()],
    ['docs/log.md', logPage()],
    ['docs/commands.md', commandsPage()],
    ['docs/metrics.md', metricsPage()],
    ['docs/networks.md', networksPage()],
    ['docs/scale.md', scalePage()],
    ['networks/schema.json', `${jsonText(networkJsonSchema())}\n`],
    ['docs/conformance.md', conformancePage()],
    ['docs/rooms.md', roomsPage()],
    ['deploy/observability/alerts.yml', alertRulesFile()],
    ['deploy/observability/dashboard.json', `${jsonText(grafanaDashboard())}\n`],
    ['docs/security.md', withSecurityTables(withEndpointWords(await readFile(join(ROOT, 'docs/security.md'), 'utf8')))],
  ];
}

/** The names of generated files that are out of date. */
export async function outdatedFiles(): Promise<string[]> {
  const files = await generatedFiles();
  const isCurrent = await Promise.all(
    files.map(async ([name, text]) => (await readFile(join(ROOT, name), 'utf8').catch(() => '')) === text),
  );
  return files.flatMap(([name], index) => (isCurrent[index] ? [] : [name]));
}

/** The application describes itself without a database: building it opens no connection. */
async function openApiText(): Promise<string> {
  const read = readConfig({});
  if ('problems' in read) throw new Error(read.problems.join('; '));
  const deps = {
    config: read.config,
    world: systemWorld,
    log: pino({ level: 'silent' }),
    metrics: createMetrics(),
    drain: { begin() {} },
    // Routes that only a sandbox has are described, too.
    testClock: { moveChain: async () => true, refresh: async () => {} },
  };
  const app = await buildApp(deps as unknown as HttpDeps);
  const text = `${jsonText(app.swagger())}\n`;
  await app.close();
  return text;
}

function envExample(): string {
  const blocks = settings.map((setting) => `${commentsOf(setting)}#${setting.env}=${plainDefault(setting.default)}\n`);
  return `# Every setting of Till. Copy this file to .env and take the # from the lines you change.\n\n${blocks.join('\n')}`;
}

function configurationPage(): string {
  const rows = settings.map(
    ({ env, kind, doc, default: fallback, defaultDoc }) =>
      `| \`${env}\` | ${kind.name} | ${defaultDoc ?? `\`${String(fallback)}\``} | ${doc}${kind.secretsOf ? ' A secret.' : ''} |`,
  );
  return `# Configuration

Settings are environment variables. \`npm start\` and operator commands also read them from the files \`till.env\`, which
[\`till init\`](operating.md#set-up) writes, and \`.env\` of their folder. A variable of the environment has precedence, then \`till.env\`. None is needed for the sandbox. A wrong
value stops the start with exit code 2 and a line for every problem. \`npm run till -- config\` prints what is in force.

| variable | type | default | what for |
|---|---|---|---|
${rows.join('\n')}

This page and \`.env.example\` are generated from \`src/settings/config.ts\`.
`;
}

function errorsPage(): string {
  const rows = Object.entries(CATALOGUE).map(([code, entry]) => {
    const reserved = 'reserved' in entry ? ' *(reserved)*' : '';
    return `| \`${code}\`${reserved} | ${entry.statuses.join(', ')} | ${entry.when} |`;
  });
  const replayed = Object.entries(CATALOGUE).flatMap(([code, entry]) => ('isReplayed' in entry ? [`\`${code}\``] : []));
  return `# Errors

Every error is JSON: a \`code\` for programs, a \`message\` for people, on validation errors \`issues\` with every broken field, and
\`details\` where they help. Quote the \`Request-Id\` header when you report one.

Checks run in this order: route, header bytes, form of the version, credentials, rate limit, version against the pin,
merchant, body and query, idempotency, state.

Some refusals are stored under the request's \`Idempotency-Key\`, and a retry with that key gets the same refusal, whose message says so, even when the
state has changed since: ${replayed.join(', ')}. Every other error leaves the key free: send the request again with the same key.

| code | HTTP | when |
|---|---|---|
${rows.join('\n')}

Reserved codes are in the specification's list, but no route answers with them.

This page is generated from \`src/errors.ts\`.
`;
}
