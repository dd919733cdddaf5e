import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { processStart } from '../../src/sandbox/os-process.ts';
import { connectTo } from '../database.ts';
import { ONLY_LONG } from '../long.ts';
import { type NodeProcess, startByNpm } from '../node-process.ts';
import { until } from '../until.ts';

/** The promise of a node after SIGTERM, and a moment for npm itself. */
const STOP = { withinMs: 12_000 };

describe('npm start', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'till-npm-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));
  const groups: NodeProcess[] = [];
  afterEach(async () => {
    // A failed test must leave no process behind.
    for (const npm of groups.splice(0)) {
      npm.signalGroup('SIGKILL');
      await npm.ended;
    }
  });

  async function start(home: string) {
    const dir = join(folder, home);
    const npm = await startByNpm({ TILL_HOME: dir });
    groups.push(npm);
    await npm.ready();
    const pidIn = async (file: string) => JSON.parse(await readFile(join(dir, file), 'utf8')).pid as number;
    const log = (await readFile(join(dir, 'logs', 'gateway.log'), 'utf8')).split('\n');
    const ready = log.find((line) => line.includes('the sandbox chain is ready')) ?? '';
    const pids = {
      gateway: await pidIn('gateway.lock'),
      postgres: await pidIn(join('postgres', 'connection.json')),
      chain: JSON.parse(ready).pid as number,
    };
    const running = async () => {
      const starts = await Promise.all(Object.values(pids).map(processStart));
      return Object.keys(pids).filter((_, index) => starts[index] !== undefined);
    };
    assert.deepEqual(await running(), ['gateway', 'postgres', 'chain']);
    return { npm, running, dir };
  }

  async function allEnd({ npm, running }: Awaited<ReturnType<typeof start>>): Promise<void> {
    let isOver = false;
    void npm.ended.then(() => {
      isOver = true;
    });
    await until(`npm ends: ${npm.output()}`, () => isOver, STOP);
    await until(`nothing is left: ${await running()}`, async () => (await running()).length === 0, STOP);
  }

  it('ends the gateway, PostgreSQL and the chain when npm alone gets SIGTERM', async () => {
    const started = await start('term');
    const { url } = JSON.parse(await readFile(join(started.dir, 'postgres', 'connection.json'), 'utf8'));
    const sql = connectTo(url);
    const users = await sql`select distinct usename as name from pg_stat_activity where application_name = 'till'`;
    await sql.end();
    assert.deepEqual([...users], [{ name: 'till_run' }], 'the gateway runs as the run role');
    started.npm.signal('SIGTERM');
    await allEnd(started);
    assert.equal(await started.npm.ended, 0, 'the gateway drained and ended by itself');
  });

  it("is the command that process managers get: of the operators' page, the systemd unit and the container image", async () => {
    const root = join(import.meta.dirname, '../..');
    const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    const [exec, ...command] = (scripts.start as string).split(' ');
    const page = await readFile(join(root, 'docs/operating.md'), 'utf8');
    assert.equal(exec, 'exec', 'no shell stays between npm and the gateway');
    assert.ok(page.includes(`\nnode_modules/.bin/${command.join(' ')}\n`), 'as a line to paste');
    const kit = (file: string) => readFile(join(root, 'deploy', file), 'utf8');
    const unit = await kit('systemd/till@.service');
    assert.ok(unit.includes(`/node_modules/.bin/${command.join(' ')}\n`), 'in the systemd unit');
    const list = command.slice(1).map((word) => JSON.stringify(word));
    assert.ok((await kit('image/Dockerfile')).includes(`CMD [${list.join(', ')}]`), 'in the container image');
  });

  it('drains after Ctrl-C, which reaches the gateway twice: from the terminal and from npm', ONLY_LONG, async () => {
    const started = await start('int');
    started.npm.signalGroup('SIGINT');
    await allEnd(started);
    assert.equal(await started.npm.ended, 0, started.npm.output());
  });
});
