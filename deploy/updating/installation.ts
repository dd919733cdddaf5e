import { mkdir, readdir, readFile, readlink, realpath, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import { backUp, onSchemaCopy, ownerUrl } from './database.ts';
import { runProgram } from './run-program.ts';
import type { UpdateDeps } from './run-update.ts';
import { syncFolder, writeWhole } from './state.ts';
import { UpdateError } from './update-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface Place {
  /** Has `releases`, `nodes` and `backups`. */
  readonly home: string;
  /** Has `till.env`, and `node-<name>.env` for each node. */
  readonly settings: string;
  /** A command line in which `{node}` is the name of a node. */
  readonly restart: string;
  /** A command line of the operator's own that makes a backup. */
  readonly backup: string | undefined;
  readonly readyWithinMs: number;
}

const LOOK_EVERY_MS = 500;
/** A node that answers once and then dies is not ready, and the load balancer must have seen it before the next node stops. */
const LOOKS = 5;
/** The check of the load balancer waits as long (docs/examples/haproxy.cfg): a node that answers later gets no request. */
const ANSWER_MS = 2_000;
/** The release before `/health` named its version. */
const BEFORE_VERSIONS = '0.1.0';
/** Read by the units beside the settings of the node; `deploy/systemd/till@.service`. */
const ACCEPTED = (node: string) => `${node}.update.env`;

export async function openInstallation(
  place: Place,
  { say, step = () => {} }: Pick<UpdateDeps, 'say'> & Partial<Pick<UpdateDeps, 'step'>>,
): Promise<UpdateDeps> {
  const { home } = place;
  const nodesFolder = join(home, 'nodes');
  const backups = join(home, 'backups');
  const entries = await readdir(nodesFolder, { withFileTypes: true });
  const nodes = entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => name);
  const settings = await readSettings(join(place.settings, 'till.env'));
  const database = ownerUrl(settings);
  if (database === undefined) throw new UpdateError(`${join(place.settings, 'till.env')} has no DATABASE_URL.`);
  const origins = new Map<string, string>();
  for (const node of nodes) {
    if (!/^[\w-]+$/.test(node)) throw new UpdateError(`${node} is no name of a node: letters, digits, - and _ are.`);
    origins.set(node, await originOf(place, settings, node));
  }
  const isServing = async (node: string, release: string) =>
    (await problemOf(origins.get(node) ?? '', await versionOf(release))) === undefined;
  const till = async (release: string, url: string, argv: readonly string[]) => {
    const urls = { DATABASE_URL: url, DATABASE_DIRECT_URL: '', DATABASE_MIGRATE_URL: '' };
    await runProgram(nodeOf(release), [join(release, 'src/cli/till.ts'), ...argv], { ...settings, ...urls });
  };
  return {
    home,
    nodes,
    say,
    step,
    isServing,
    releases: {
      of: (node) => realpath(join(nodesFolder, node)),
      point: (node, release) => point(nodesFolder, node, release),
      version: versionOf,
      migrations: async (release) =>
        (await readdir(join(release, 'migrations'))).filter((name) => name.endsWith('.sql')).sort(),
    },
    database: {
      async backUp() {
        if (place.backup !== undefined) {
          await runProgram('/bin/sh', ['-c', place.backup]);
          return '';
        }
        await mkdir(backups, { recursive: true, mode: 0o700 });
        return backUp(database, backups, new Date().toISOString().replace(/[:.]/g, '-'));
      },
      rehearse: (release) => onSchemaCopy(database, (url) => till(release, url, ['migrate'])),
      migrate: (release) => till(release, database, ['migrate']),
    },
    async acceptSchema(newest) {
      for (const node of nodes) {
        const file = join(nodesFolder, ACCEPTED(node));
        if (newest === undefined) await rm(file, { force: true });
        else await writeWhole(file, `NEWER_SCHEMA=${newest}\n`);
      }
    },
    async restart(node) {
      await runProgram('/bin/sh', ['-c', place.restart.replaceAll('{node}', node)]);
    },
    async waitUntilServing(node, release) {
      const origin = origins.get(node) ?? '';
      const version = await versionOf(release);
      const deadline = performance.now() + place.readyWithinMs;
      for (let looks = 0; ; ) {
        const problem = await problemOf(origin, version);
        looks = problem === undefined ? looks + 1 : 0;
        if (looks === LOOKS) return undefined;
        if (problem !== undefined && performance.now() > deadline) return problem;
        await pause(LOOK_EVERY_MS);
      }
    },
  };
}

/** The folder of a release that can be started. */
export async function releaseAt(path: string): Promise<string> {
  const release = await realpath(path).catch(() => {
    throw new UpdateError(`There is no folder ${path}.`);
  });
  for (const part of ['package.json', 'src/main.ts', 'web/dist', 'node_modules/fastify']) {
    await realpath(join(release, part)).catch(() => {
      throw new UpdateError(`${release} is no whole release: it lacks ${part}.`);
    });
  }
  return release;
}

/** The link is there at every moment. */
async function point(folder: string, node: string, release: string): Promise<void> {
  const part = join(folder, `.${node}.part`);
  await rm(part, { force: true });
  await symlink(release, part);
  await rename(part, join(folder, node));
  await syncFolder(folder);
  if ((await readlink(join(folder, node))) !== release)
    throw new UpdateError(`${join(folder, node)} could not be changed.`);
}

async function readSettings(path: string): Promise<Environment> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UpdateError(`${path} cannot be read: ${error.code}.`);
  });
  return parseEnv(text);
}

/** Where the node answers `/ready`: a node without the role `api` has its metrics port alone. */
async function originOf({ settings: folder }: Place, common: Environment, node: string): Promise<string> {
  const path = join(folder, `node-${node}.env`);
  const own = await readSettings(path);
  const { ROLES: roles, PORT, METRICS_PORT } = { ...common, ...own };
  const isApi = roles === undefined || roles.split(/[\s,]+/).includes('api');
  const port = isApi ? PORT : METRICS_PORT;
  if (port === undefined) throw new UpdateError(`${path} has no ${isApi ? 'PORT' : 'METRICS_PORT'}.`);
  return `http://127.0.0.1:${port}`;
}

async function versionOf(release: string): Promise<string> {
  return String(JSON.parse(await readFile(join(release, 'package.json'), 'utf8')).version);
}

function nodeOf(release: string): string {
  return join(release, 'node_modules/.bin/node');
}

/** Undefined if the node takes requests with this version. */
async function problemOf(origin: string, version: string): Promise<string | undefined> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const health = await fetch(`${origin}/health`, { signal });
    const { version: running = BEFORE_VERSIONS } = (await health.json()) as { version?: string };
    const ready = await fetch(`${origin}/ready`, { signal });
    if (ready.status !== 200) return `${origin}/ready answers ${ready.status}: ${(await ready.text()).slice(0, 500)}`;
    if (running !== version) return `${origin} runs version ${running}, not ${version}.`;
    return undefined;
  } catch (error) {
    const cause = (error as { cause?: Error }).cause;
    return `${origin} does not answer: ${cause?.message || (error as Error).message}.`;
  }
}
