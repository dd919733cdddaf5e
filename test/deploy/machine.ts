import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyRelease } from '../../deploy/image/release-files.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { findPort } from '../../src/sandbox/free-port.ts';
import { until } from '../until.ts';

const ROOT = join(import.meta.dirname, '../..');
const READY_WITHIN_S = 120;

/** As the units of systemd do it: stops a node, and starts the release that its link names with its settings. */
const RESTART = `#!/bin/bash
set -eu
home=$TILL_ROOT
pid=$(cat "$home/$1.pid" 2>/dev/null || true)
if [ -n "$pid" ]; then kill -TERM "$pid" 2>/dev/null && tail --pid="$pid" -f /dev/null || true; fi
[ "\${2:-}" = stop ] && exit 0
set -a
. "$home/settings/till.env"
. "$home/settings/node-$1.env"
[ ! -e "$home/nodes/$1.update.env" ] || . "$home/nodes/$1.update.env"
set +a
if [ "\${2:-}" = migrate ]; then cd "$3" && exec node_modules/.bin/node src/cli/till.ts migrate; fi
cd -P "$home/nodes/$1"
setsid node_modules/.bin/node src/main.ts > "$home/$1.log" 2>&1 < /dev/null &
echo $! > "$home/$1.pid"
`;

interface Ran {
  readonly code: number | string;
  readonly said: string;
}

interface ReleaseInput {
  /** The folder that the release is copied from; otherwise that of this project. */
  readonly source?: string;
  /** Further migrations, by their names. */
  readonly migrations?: Readonly<Record<string, string>>;
}

export type Machine = Awaited<ReturnType<typeof openMachine>>;

/** A machine of an operator: a folder of releases, and nodes that are links to them, without systemd. */
export async function openMachine(nodes: readonly string[]) {
  const home = await mkdtemp(join(tmpdir(), 'till-update-'));
  const ports = new Map<string, number>();
  for (const folder of ['releases', 'nodes', 'settings']) await mkdir(join(home, folder));
  await writeFile(join(home, 'restart'), RESTART);
  await chmod(join(home, 'restart'), 0o755);

  const release = (version: string) => join(home, 'releases', version);
  const originOf = (node: string) => `http://127.0.0.1:${ports.get(node)}`;
  const flags = ['--settings', join(home, 'settings'), '--restart', `${join(home, 'restart')} {node}`];

  function run(program: string, args: readonly string[]): Promise<Ran> {
    return new Promise((resolve) => {
      execFile(program, args, { env: { ...process.env, TILL_ROOT: home } }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : (error.signal ?? error.code ?? 1), said: stdout + stderr });
      });
    });
  }

  /** Restarts a node; or stops it, or migrates the database with a release. */
  const control = (node: string, ...more: readonly string[]) => run(join(home, 'restart'), [node, ...more]);

  async function serves(node: string, version: string): Promise<void> {
    const isServing = async () => {
      const health = await fetch(`${originOf(node)}/health`).then(
        (answer) => answer.json(),
        () => ({}),
      );
      const ready = await fetch(`${originOf(node)}/ready`).catch(() => undefined);
      return (health as { version?: string }).version === version && ready?.status === 200;
    };
    await until(`node ${node} serves ${version}`, isServing).catch(async (error: Error) => {
      const log = await readFile(join(home, `${node}.log`), 'utf8');
      throw new Error(`${error.message} Its log: ${log.slice(-2_000)}`);
    });
  }

  return {
    home,
    release,
    originOf,
    run,
    control,
    serves,
    flags: [...flags, '--ready-within', String(READY_WITHIN_S)],
    async makeRelease(version: string, { source = ROOT, migrations = {} }: ReleaseInput = {}): Promise<void> {
      const folder = release(version);
      await copyRelease(source, folder);
      await symlink(join(source, 'node_modules'), join(folder, 'node_modules'));
      const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
      await writeFile(join(folder, 'package.json'), JSON.stringify({ ...manifest, version }));
      for (const [name, sql] of Object.entries(migrations)) await writeFile(join(folder, 'migrations', name), sql);
    },
    /** The common settings, and a port for each node. */
    async configure(common: Readonly<Record<string, string>>): Promise<void> {
      await writeFile(join(home, 'settings/till.env'), envText(common));
      for (const node of nodes) {
        ports.set(node, await findPort(systemWorld.random));
        const own = { PORT: `${ports.get(node)}`, METRICS_PORT: '0' };
        await writeFile(join(home, `settings/node-${node}.env`), envText(own));
      }
    },
    /** All nodes start this release, on the database as it is. */
    async start(version: string): Promise<void> {
      for (const node of nodes) {
        await rm(join(home, 'nodes', node), { force: true });
        await rm(join(home, 'nodes', `${node}.update.env`), { force: true });
        await symlink(release(version), join(home, 'nodes', node));
      }
      await Promise.all(nodes.map((node) => control(node)));
      for (const node of nodes) await serves(node, version);
    },
    stop: async () => {
      for (const node of nodes) await control(node, 'stop');
    },
    remove: () => rm(home, { recursive: true, force: true }),
  };
}

const envText = (values: Readonly<Record<string, string>>) =>
  Object.entries(values)
    .map(([name, value]) => `${name}='${value}'\n`)
    .join('');
