import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { type SandboxChain, startSandboxChain } from '../../src/sandbox/chain-process.ts';
import { connectTo } from '../database.ts';
import { missingDebianPostgres, startDebianPostgres } from '../debian-postgres.ts';
import { ONLY_LONG } from '../long.ts';
import { type Machine, openMachine } from './machine.ts';

const ROOT = join(import.meta.dirname, '../..');
const NODES = ['1', '2'];
const OLD = '0.1.98';
const NEW = '0.1.99';
/** Its nodes do not start. */
const BROKEN = '0.1.100';
/** Its migration finds a table that it does not expect. */
const UNFIT = '0.1.101';

const options = { skip: ONLY_LONG.skip || missingDebianPostgres() || process.platform !== 'linux' };

describe('deploy/update, with gateways and a PostgreSQL', options, () => {
  let machine: Machine;
  let chain: SandboxChain;
  let postgres: Awaited<ReturnType<typeof startDebianPostgres>>;

  before(async () => {
    machine = await openMachine(NODES);
    postgres = await startDebianPostgres();
    chain = await startSandboxChain(
      { world: systemWorld, log: pino({ level: 'silent' }) },
      { dir: join(machine.home, 'chain'), blockMs: 500 },
    );
    const last = (await readdir(join(ROOT, 'migrations'))).length;
    const migration = (offset: number, name: string) => `${String(last + offset).padStart(4, '0')}_${name}.sql`;
    const update = { [migration(1, 'update')]: 'create table of_update (id integer);' };
    await machine.makeRelease(OLD);
    await machine.makeRelease(NEW, { migrations: update });
    const more = { [migration(2, 'more')]: 'alter table of_update add column more integer;' };
    await machine.makeRelease(BROKEN, { migrations: { ...update, ...more } });
    await writeFile(join(release(BROKEN), 'src/main.ts'), 'process.exit(3);\n');
    const unfit = { [migration(1, 'unfit')]: 'create table payments (id integer);' };
    await machine.makeRelease(UNFIT, { migrations: unfit });
    await machine.configure({
      DATABASE_URL: Object.assign(new URL(postgres.url), { pathname: '/shop' }).href,
      RPC_URLS: `eip155:31337=${chain.rpcUrl}`,
      TILL_SECRET: randomBytes(32).toString('base64'),
      MAX_EVENT_LOOP_DELAY_MS: '0',
      DRAIN_MS: '0',
      TILL_HOME: join(machine.home, 'till-home'),
    });
  });
  after(async () => {
    await machine?.stop();
    await chain?.stop();
    await postgres?.stop();
    await machine?.remove();
  });

  const release = (version: string) => machine.release(version);
  const update = (...args: string[]) => machine.run(join(ROOT, 'deploy/update'), [...machine.flags, ...args]);
  /** One update that is killed at every step in turn, and run again each time. Returns the steps and the end. */
  async function killedAtEveryStep(
    ...args: string[]
  ): Promise<{ steps: string[]; code: number | string; said: string }> {
    const program = join(import.meta.dirname, 'interrupted-update.ts');
    const steps: string[] = [];
    for (;;) {
      // What the update was ordered to do is known to the update that goes on.
      const first = steps.length === 0 ? args : args.slice(2);
      const { code, said } = await machine.run(process.execPath, [
        program,
        steps.join(','),
        ...machine.flags,
        ...first,
      ]);
      if (code !== 'SIGKILL') return { steps, code, said };
      const [, step = ''] = /^killed at: (.*)$/m.exec(said) ?? [];
      assert.ok(step !== '' && !steps.includes(step), said);
      steps.push(step);
    }
  }

  /** Nodes of a release on a new database. */
  async function install(version: string): Promise<void> {
    await machine.stop();
    const sql = connectTo(postgres.url);
    await sql.unsafe('drop database if exists shop with (force)');
    const [kept] = await sql`select from pg_database where datname = 'shop_migrated'`;
    // A copy of the first database takes less time than its migrations.
    await sql.unsafe(`create database shop ${kept === undefined ? '' : 'template shop_migrated'}`);
    if (kept === undefined) {
      const { code, said } = await machine.control('1', 'migrate', release(version));
      assert.equal(code, 0, said);
      await sql.unsafe('create database shop_migrated template shop');
    }
    await sql.end();
    await rm(join(machine.home, 'till-home'), { recursive: true, force: true });
    await machine.start(version);
  }

  async function areOn(version: string): Promise<void> {
    for (const node of NODES) {
      assert.equal(await readlink(join(machine.home, 'nodes', node)), release(version));
      await machine.serves(node, version);
    }
    assert.deepEqual(
      (await readdir(machine.home)).filter((name) => name.startsWith('update.json')),
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
    const backups = await readdir(join(machine.home, 'backups'));
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
    const holder = spawn('flock', [join(machine.home, 'update.lock'), 'sh', '-c', 'echo held; exec cat']);
    const ended = once(holder, 'close');
    await once(holder.stdout, 'data');
    assert.equal((await update('--to', release(NEW))).code, 75);
    holder.stdin.end();
    await ended;
  });
});
