import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { runUpdate, type UpdateDeps, type UpdateOrder } from '../../deploy/updating/run-update.ts';
import { failureLine, UpdateError } from '../../deploy/updating/update-error.ts';
import { mountSmallDisk } from '../crash/small-disk.ts';

const OLD = '0.1.0';
const NEW = '0.2.0';
const BROKEN = '0.2.1';
const ONE_WAY = '0.3.0';
const MIGRATIONS: Readonly<Record<string, readonly string[]>> = {
  [OLD]: ['0001_a.sql'],
  [NEW]: ['0001_a.sql', '0002_b.sql'],
  [BROKEN]: ['0001_a.sql', '0002_b.sql'],
  [ONE_WAY]: ['0001_a.sql', '0002_b.sql', '0003_one_way_c.sql'],
};
const NODES = ['1', '2', '3'];
const GO_ON: UpdateOrder = { to: undefined, isBack: false, acceptsOneWay: false };

class Interruption extends Error {}

/** Machines in memory: nodes with the release that they run, and the migrations of their database. */
function createMachines(home: string, options: { broken?: readonly string[] } = {}) {
  let { broken = [] } = options;
  const pointed = new Map(NODES.map((node) => [node, OLD]));
  const running = new Map<string, string | undefined>(pointed);
  let schema = 1;
  let accepted: string | undefined;
  const backups: number[] = [];
  const said: string[] = [];
  const visited: string[] = [];
  let stopAt = Number.POSITIVE_INFINITY;
  let fewestServing = NODES.length;
  /** As `migrate` of a starting node decides. */
  const canStart = (release: string) => {
    const own = MIGRATIONS[release]?.length ?? 0;
    return own >= schema || (accepted !== undefined && Number.parseInt(accepted, 10) >= schema);
  };
  const serves = (node: string, release: string) => running.get(node) === release && !broken.includes(release);
  const deps: UpdateDeps = {
    home,
    nodes: NODES,
    releases: {
      of: async (node) => pointed.get(node) ?? '',
      point: async (node, release) => void pointed.set(node, release),
      version: async (release) => release,
      migrations: async (release) => MIGRATIONS[release] ?? [],
    },
    database: {
      backUp: async () => `backup ${backups.push(schema)}`,
      rehearse: async () => {},
      async migrate(release) {
        schema = Math.max(schema, MIGRATIONS[release]?.length ?? 0);
      },
    },
    async acceptSchema(newest) {
      accepted = newest;
    },
    async restart(node) {
      const release = pointed.get(node) ?? '';
      running.set(node, canStart(release) ? release : undefined);
      fewestServing = Math.min(fewestServing, NODES.filter((each) => serves(each, running.get(each) ?? '')).length);
    },
    waitUntilServing: async (node, release) => (serves(node, release) ? undefined : 'it is not ready.'),
    isServing: async (node, release) => serves(node, release),
    say: (text) => void said.push(text),
    step(name) {
      visited.push(name);
      // Any node that has to start at this moment, such as after a power cut, can do so.
      for (const node of NODES) assert.ok(canStart(pointed.get(node) ?? ''), `node ${node} can start at: ${name}`);
      if (visited.length === stopAt) throw new Interruption(name);
    },
  };
  return {
    deps,
    running: () => NODES.map((node) => running.get(node)),
    mend() {
      broken = [];
    },
    stopAt(count: number) {
      stopAt = count;
      visited.length = 0;
    },
    visited,
    said,
    facts: () => ({ schema, accepted, backups, fewestServing }),
  };
}

describe('the steps of an update', () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'till-update-'));
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  const to = (release: string): UpdateOrder => ({ ...GO_ON, to: release });
  const all = (release: string) => NODES.map(() => release);
  const isOver = async () => assert.deepEqual(await readdir(home), []);

  /** Runs the update again and again, interrupted at another step each time. Returns the number of steps. */
  async function interruptEverywhere(
    order: UpdateOrder,
    options: { broken?: readonly string[] },
    check: (machines: ReturnType<typeof createMachines>, isDone: boolean) => Promise<void>,
  ): Promise<number> {
    for (let at = 1; ; at += 1) {
      const machines = createMachines(home, options);
      machines.stopAt(at);
      const first = await runUpdate(machines.deps, order).catch((error) => error);
      if (!(first instanceof Interruption)) {
        assert.equal(typeof first, 'boolean', String(first));
        await check(machines, first);
        return at - 1;
      }
      machines.stopAt(Number.POSITIVE_INFINITY);
      const isDone = await runUpdate(machines.deps, GO_ON);
      await check(machines, isDone);
    }
  }

  it('interrupted at every one and run again, have replaced every node', async () => {
    const steps = await interruptEverywhere(to(NEW), {}, async (machines, isDone) => {
      assert.equal(isDone, true);
      assert.deepEqual(machines.running(), all(NEW));
      const { schema, accepted, backups, fewestServing } = machines.facts();
      assert.deepEqual([schema, accepted, fewestServing], [2, undefined, NODES.length]);
      assert.ok(backups.length > 0 && backups.every((made) => made === 1), 'a backup of the schema from before');
      await isOver();
    });
    assert.ok(steps >= 15, `${steps} steps`);
  });

  it('go back if a node is not ready, also interrupted at every one', async () => {
    const steps = await interruptEverywhere(to(BROKEN), { broken: [BROKEN] }, async (machines, isDone) => {
      assert.equal(isDone, false);
      assert.deepEqual(machines.running(), all(OLD));
      const { accepted, fewestServing } = machines.facts();
      assert.deepEqual(
        [accepted, fewestServing],
        ['0002_b.sql', NODES.length - 1],
        'older nodes start on the newer schema',
      );
      await isOver();
    });
    assert.ok(steps >= 12, `${steps} steps`);
  });

  it('end at the operator’s word, and go back', async () => {
    for (let at = 1; at <= 12; at += 1) {
      const machines = createMachines(home);
      machines.stopAt(at);
      await assert.rejects(runUpdate(machines.deps, to(NEW)), Interruption);
      machines.stopAt(Number.POSITIVE_INFINITY);
      assert.equal(await runUpdate(machines.deps, { ...GO_ON, isBack: true }), false);
      assert.deepEqual(machines.running(), all(OLD));
      await isOver();
    }
  });

  it('go from a newer version to an older one without migrating', async () => {
    const machines = createMachines(home);
    assert.equal(await runUpdate(machines.deps, to(NEW)), true);
    assert.equal(await runUpdate(machines.deps, to(OLD)), true);
    assert.deepEqual(machines.running(), all(OLD));
    assert.equal(machines.facts().schema, 2);
  });

  it('ask first where a migration leaves no way back, and then go forward alone', async () => {
    const machines = createMachines(home, { broken: [ONE_WAY] });
    await assert.rejects(runUpdate(machines.deps, to(ONE_WAY)), /0003_one_way_c\.sql there is no way back.*--one-way/);
    const accepting = { ...to(ONE_WAY), acceptsOneWay: true };
    await assert.rejects(runUpdate(machines.deps, accepting), /There is no way back .* run the update again/);
    assert.equal(machines.facts().fewestServing, NODES.length - 1, 'the other nodes run on');
    machines.mend();
    assert.equal(await runUpdate(machines.deps, GO_ON), true);
    assert.deepEqual(machines.running(), all(ONE_WAY));
    await assert.rejects(runUpdate(machines.deps, to(NEW)), /cannot run after the migration 0003_one_way_c\.sql/);
    await isOver();
  });

  it('end with one line where the new version cannot migrate this database', async () => {
    const machines = createMachines(home);
    Object.assign(machines.deps.database, {
      rehearse: () => Promise.reject(new UpdateError('till ended with 1: no such column.')),
    });
    await assert.rejects(
      runUpdate(machines.deps, to(NEW)),
      /no such column\. Nothing has changed: all nodes run 0\.1\.0\.$/,
    );
    assert.deepEqual([machines.running(), machines.facts().schema], [all(OLD), 1]);
    await isOver();
  });

  it('refuse what cannot be right, before anything has changed', async () => {
    const machines = createMachines(home, { broken: [] });
    await assert.rejects(runUpdate(machines.deps, GO_ON), /Name the folder of the new release/);
    await assert.rejects(runUpdate(machines.deps, { ...GO_ON, isBack: true }), /No update is under way/);
    machines.stopAt(3);
    await assert.rejects(runUpdate(machines.deps, to(NEW)), Interruption);
    await assert.rejects(runUpdate(machines.deps, to(BROKEN)), /An update to 0\.2\.0 is under way/);
    machines.stopAt(Number.POSITIVE_INFINITY);
    await runUpdate(machines.deps, GO_ON);
    assert.equal(await runUpdate(machines.deps, to(NEW)), true);
    assert.match(machines.said.at(-1) ?? '', /All nodes run 0\.2\.0 already/);
    const ill = createMachines(home, { broken: [OLD] });
    await assert.rejects(runUpdate(ill.deps, to(NEW)), /Node 1 is not ready before the update/);
    assert.deepEqual(ill.facts().backups, []);
    await isOver();
  });

  it('end with one line where the file of the update is broken, and change nothing', async () => {
    const machines = createMachines(home);
    const path = join(home, 'update.json');
    await writeFile(path, '{"from": "0.1');
    const refused = await runUpdate(machines.deps, GO_ON).catch(failureLine);
    assert.equal(
      refused,
      `${path} is no whole JSON, so the update that is under way is not known. Let the links of all nodes lead to one release and restart them, then remove the file.`,
    );
    assert.deepEqual(machines.running(), all(OLD));
  });

  it('end with one line on a full disk, lose nothing, and go on when there is room', async (context) => {
    const disk = mountSmallDisk(join(home, 'disk'), 1);
    if (disk === undefined) return context.skip('Only root may mount a small disk.');
    try {
      const machines = createMachines(disk.dir);
      const { step } = machines.deps;
      Object.assign(machines.deps, {
        async step(name: string) {
          await step(name);
          if (name === 'backed up') await disk.fill();
        },
      });
      const refused = await runUpdate(machines.deps, to(NEW)).catch(failureLine);
      assert.match(
        String(refused),
        /update\.json cannot be used \(ENOSPC: .*\)\. Free space on its disk, and run the update again: it goes on where it stopped\.$/,
      );
      assert.deepEqual([machines.running(), machines.facts().schema], [all(OLD), 1]);
      await disk.free();
      Object.assign(machines.deps, { step });
      assert.equal(await runUpdate(machines.deps, GO_ON), true);
      assert.deepEqual(machines.running(), all(NEW));
    } finally {
      disk.unmount();
    }
  });
});
