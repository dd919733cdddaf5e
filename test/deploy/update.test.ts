import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { copyRelease } from '../../deploy/image/release-files.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { type SandboxChain, startSandboxChain } from '../../src/sandbox/chain-process.ts';
import { findPort } from '../../src/sandbox/free-port.ts';
import { connectTo } from '../database.ts';
import { ONLY_LONG } from '../long.ts';
import { missingReplication, startDebianPostgres } from '../replicated-postgres.ts';
import { until } from '../until.ts';

const ROOT = join(import.meta.dirname, '../..');
const NODES = ['1', '2'];
const OLD = '0.1.98';
const NEW = '0.1.99';
/** Its nodes do not start. */
const BROKEN = '0.1.100';
/** Its migration finds a table that it does not expect. */
const UNFIT = '0.1.101';

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

const options = { skip: ONLY_LONG.skip || missingReplication() || process.platform !== 'linux' };

describe('deploy/update, with gateways and a PostgreSQL', options, () => {
  let home: string;
  let chain: SandboxChain;
  let postgres: Awaited<ReturnType<typeof startDebianPostgres>>;
  const ports = new Map<string, number>();
  const release = (version: string) => join(home, 'releases', version);
  const restart = () => `${join(home, 'restart')} {node}`;
  const environment = () => ({ ...process.env, TILL_ROOT: home });

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'till-update-'));
    postgres = await startDebianPostgres();
    chain = await startSandboxChain(
      { world: systemWorld, log: pino({ level: 'silent' }) },
      { dir: join(home, 'chain'), blockMs: 500 },
    );
    for (const folder of ['releases', 'nodes', 'settings']) await mkdir(join(home, folder));
    const last = (await readdir(join(ROOT, 'migrations'))).length;
    const migration = (offset: number, name: string) => `${String(last + offset).padStart(4, '0')}_${name}.sql`;
    await makeRelease(OLD);
    await makeRelease(NEW, { [migration(1, 'update')]: 'create table of_update (id integer);' });
    await makeRelease(BROKEN, {
      [migration(1, 'update')]: 'create table of_update (id integer);',
      [migration(2, 'more')]: 'alter table of_update add column more integer;',
    });
    await writeFile(join(release(BROKEN), 'src/main.ts'), 'process.exit(3);\n');
    await makeRelease(UNFIT, { [migration(1, 'unfit')]: 'create table payments (id integer);' });
    await writeFile(join(home, 'restart'), RESTART);
    await chmod(join(home, 'restart'), 0o755);
    await writeSettings();
  });
  after(async () => {
    for (const node of NODES) await run(join(home, 'restart'), [node, 'stop']);
    await chain?.stop();
    await postgres?.stop();
    await rm(home, { recursive: true, force: true });
  });

  async function makeRelease(version: string, migrations: Record<string, string> = {}): Promise<void> {
    const folder = release(version);
    await copyRelease(ROOT, folder);
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    await writeFile(join(folder, 'package.json'), JSON.stringify({ ...manifest, version }));
    for (const [name, sql] of Object.entries(migrations)) await writeFile(join(folder, 'migrations', name), sql);
  }

  async function writeSettings(): Promise<void> {
    const common = {
      DATABASE_URL: Object.assign(new URL(postgres.url), { pathname: '/shop' }).href,
      RPC_URLS: `eip155:31337=${chain.rpcUrl}`,
      TILL_SECRET: randomBytes(32).toString('base64'),
      MAX_EVENT_LOOP_DELAY_MS: '0',
      DRAIN_MS: '0',
      TILL_HOME: join(home, 'till-home'),
    };
    await writeFile(join(home, 'settings/till.env'), envText(common));
    for (const node of NODES) {
      ports.set(node, await findPort(systemWorld.random));
      const own = { PORT: `${ports.get(node)}`, METRICS_PORT: '0' };
      await writeFile(join(home, `settings/node-${node}.env`), envText(own));
    }
  }

  const envText = (values: Record<string, string>) =>
    Object.entries(values)
      .map(([name, value]) => `${name}='${value}'\n`)
      .join('');

  function run(program: string, args: readonly string[]): Promise<{ code: number | string; said: string }> {
    return new Promise((resolve) => {
      execFile(program, args, { env: environment() }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : (error.signal ?? error.code ?? 1), said: stdout + stderr });
      });
    });
  }

  const FLAGS = () => ['--settings', join(home, 'settings'), '--restart', restart(), '--ready-within', '120'];
  const update = (...args: string[]) => run(join(ROOT, 'deploy/update'), [...FLAGS(), ...args]);
  /** One update that is killed at every step in turn, and run again each time. Returns the steps and the end. */
  async function killedAtEveryStep(
    ...args: string[]
  ): Promise<{ steps: string[]; code: number | string; said: string }> {
    const program = join(import.meta.dirname, 'interrupted-update.ts');
    const steps: string[] = [];
    for (;;) {
      // What the update was ordered to do is known to the update that goes on.
      const first = steps.length === 0 ? args : args.slice(2);
      const { code, said } = await run(process.execPath, [program, steps.join(','), ...FLAGS(), ...first]);
      if (code !== 'SIGKILL') return { steps, code, said };
      const [, step = ''] = /^killed at: (.*)$/m.exec(said) ?? [];
      assert.ok(step !== '' && !steps.includes(step), said);
      steps.push(step);
    }
  }

  /** Nodes of a release on a new database. */
  async function install(version: string): Promise<void> {
    for (const node of NODES) await run(join(home, 'restart'), [node, 'stop']);
    const sql = connectTo(postgres.url);
    await sql.unsafe('drop database if exists shop with (force)');
    const [kept] = await sql`select from pg_database where datname = 'shop_migrated'`;
    // A copy of the first database takes less time than its migrations.
    await sql.unsafe(`create database shop ${kept === undefined ? '' : 'template shop_migrated'}`);
    if (kept === undefined) {
      const { code, said } = await run(join(home, 'restart'), ['1', 'migrate', release(version)]);
      assert.equal(code, 0, said);
      await sql.unsafe('create database shop_migrated template shop');
    }
    await sql.end();
    await rm(join(home, 'till-home'), { recursive: true, force: true });
    for (const node of NODES) {
      await rm(join(home, 'nodes', node), { force: true });
      await rm(join(home, 'nodes', `${node}.update.env`), { force: true });
      await symlink(release(version), join(home, 'nodes', node));
    }
    await Promise.all(NODES.map((node) => run(join(home, 'restart'), [node])));
    for (const node of NODES) await serves(node, version);
  }

  async function serves(node: string, version: string): Promise<void> {
    const url = `http://127.0.0.1:${ports.get(node)}`;
    const isServing = async () => {
      const health = await fetch(`${url}/health`).then(
        (answer) => answer.json(),
        () => ({}),
      );
      const ready = await fetch(`${url}/ready`).catch(() => undefined);
      return (health as { version?: string }).version === version && ready?.status === 200;
    };
    await until(`node ${node} serves ${version}`, isServing).catch(async (error: Error) => {
      const log = await readFile(join(home, `${node}.log`), 'utf8');
      throw new Error(`${error.message} Its log: ${log.slice(-2_000)}`);
    });
  }

  async function areOn(version: string): Promise<void> {
    for (const node of NODES) {
      assert.equal(await readlink(join(home, 'nodes', node)), release(version));
      await serves(node, version);
    }
    assert.deepEqual(
      (await readdir(home)).filter((name) => name.startsWith('update.json')),
      [],
    );
    const sql = connectTo(postgres.url);
    const copies = await sql`select from pg_database where datname like '%update_check'`;
    await sql.end();
    assert.equal(copies.length, 0, 'no copy of the schema is left');
  }

  it('replaces all nodes, killed at every step and run again', async () => {
    await install(OLD);
    const { steps, code, said } = await killedAtEveryStep('--to', release(NEW));
    assert.equal(code, 0, said);
    assert.ok(steps.length >= 13, steps.join());
    await areOn(NEW);
    const backups = await readdir(join(home, 'backups'));
    assert.ok(backups.length > 0 && backups.every((name) => name.endsWith('.dump')), backups.join());
  });

  it('goes back if a node is not ready, killed at every step too: the older version starts on the newer schema', async () => {
    await install(OLD);
    const { steps, code, said } = await killedAtEveryStep('--to', release(BROKEN), '--ready-within', '45');
    assert.equal(code, 1, said);
    assert.match(said, /Going back to [\s\S]*All nodes run .*0\.1\.98, as before/);
    assert.ok(steps.includes('turned back') && steps.includes('schema accepted on the way back'), steps.join());
    await areOn(OLD);
    const done = await update('--to', release(NEW));
    assert.equal(done.code, 1, 'its migrations are fewer than those of the database');
    assert.match(done.said, /newer version of Till[\s\S]*Nothing has changed/);
    await areOn(OLD);
  });

  it('says in a few words that the new version cannot migrate this database, and changes nothing', async () => {
    await install(OLD);
    const { code, said } = await update('--to', release(UNFIT));
    assert.equal(code, 1, said);
    assert.match(said, /payments.*already exists[\s\S]*Nothing has changed: all nodes run /);
    await areOn(OLD);
  });

  it('runs once at a time', async () => {
    const holder = spawn('flock', [join(home, 'update.lock'), 'sh', '-c', 'echo held; exec cat']);
    const ended = once(holder, 'close');
    await once(holder.stdout, 'data');
    assert.equal((await update('--to', release(NEW))).code, 75);
    holder.stdin.end();
    await ended;
  });
});
