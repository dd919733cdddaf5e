import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { pino } from 'pino';
import { manualTime } from '../../test/manual-time.ts';
import { until } from '../../test/until.ts';
import { systemWorld } from '../runtime/system-world.ts';
import { followScreeningList } from './follow-list.ts';

const ALICE = `0x${'a'.repeat(40)}`;
const BOB = `0x${'b'.repeat(40)}`;
const listOf = (version: string, ...accounts: string[]) =>
  `# version: ${version}\n# date: 2026-03-01\n${accounts.join('\n')}\n`;

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'till-screening-'));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

async function follow(t: TestContext, text: string) {
  const path = join(await folder(t), 'list.txt');
  await writeFile(path, text);
  const time = manualTime();
  const reports: string[] = [];
  const state = { isReportable: true };
  const record = async (what: string) => {
    if (!state.isReportable) throw new Error('The database is away.');
    reports.push(what);
  };
  const screening = await followScreeningList({
    world: { ...systemWorld, clock: time.clock, timers: time.timers },
    log: pino({ level: 'silent' }),
    path,
    report: (problem) => record(problem?.replace(path, 'list.txt') ?? 'well'),
  });
  t.after(async () => {
    const stopped = screening.stop();
    await time.advance(100_000);
    await stopped;
  });
  /** Advances to the next read of the file and waits for its result. */
  const nextRead = (what: string, isDone: () => boolean) =>
    until(what, async () => {
      await time.advance(10_000);
      return isDone();
    });
  const version = () => screening.decide([]).list?.version;
  const isHit = (address: string) => screening.decide([`eip155:1:${address}`]).hits.length === 1;
  return { path, reports, state, nextRead, version, isHit };
}

describe('a screening list in use', () => {
  it('is in force before anything is decided', async (t) => {
    const { version, isHit } = await follow(t, listOf('one', ALICE));
    assert.equal(version(), 'one');
    assert.deepEqual([isHit(ALICE), isHit(BOB)], [true, false]);
  });

  it('gives way to a new file, written over it or moved into its place', async (t) => {
    const { path, nextRead, version, isHit } = await follow(t, listOf('one', ALICE));
    await writeFile(path, listOf('two', BOB));
    await nextRead('the second list', () => version() === 'two');
    assert.deepEqual([isHit(ALICE), isHit(BOB)], [false, true]);
    await writeFile(`${path}.new`, listOf('six', ALICE));
    await utimes(`${path}.new`, new Date(0), new Date(0));
    await rename(`${path}.new`, path);
    await nextRead('the third list', () => version() === 'six');
    assert.equal(isHit(ALICE), true);
  });

  it('stays in force when the new file is broken or gone, which is reported until it is whole again', async (t) => {
    const { path, reports, nextRead, version, isHit } = await follow(t, listOf('one', ALICE));
    await nextRead('all well', () => reports.length > 0);
    assert.deepEqual(new Set(reports), new Set(['well']));

    await writeFile(path, `${listOf('two', BOB)}half of a li`);
    await nextRead('trouble, twice', () => reports.filter((report) => report !== 'well').length >= 2);
    assert.equal(
      reports.at(-1),
      'The screening list has neither a CAIP-10 account nor an EVM address in line 4 (list.txt). ' +
        'The list in force is one of 2026-03-01.',
    );
    assert.deepEqual([version(), isHit(ALICE)], ['one', true]);

    await rm(path);
    await nextRead('trouble of another kind', () => /does not exist/.test(reports.at(-1) ?? ''));
    assert.equal(isHit(ALICE), true);

    await writeFile(path, listOf('three', BOB));
    await nextRead('all well again', () => reports.at(-1) === 'well');
    assert.equal(version(), 'three');
  });

  it('goes on after a report that failed', async (t) => {
    const { path, reports, state, nextRead, version } = await follow(t, listOf('one', ALICE));
    state.isReportable = false;
    await writeFile(path, listOf('two', ALICE));
    await nextRead('the second list', () => version() === 'two');
    state.isReportable = true;
    await nextRead('all well', () => reports.length > 0);
    assert.deepEqual(new Set(reports), new Set(['well']));
  });
});

describe('a screening list that cannot be used at the start', () => {
  const start = (path: string) =>
    followScreeningList({
      world: systemWorld,
      log: pino({ level: 'silent' }),
      path,
      report: async () => {},
    });

  it('is a clear error', async (t) => {
    const path = await folder(t);
    await assert.rejects(
      start(join(path, 'none.txt')),
      /^ScreeningListError: The screening list does not exist \(.*none\.txt\)\.$/,
    );
    await mkdir(join(path, 'dir'));
    await assert.rejects(start(join(path, 'dir')), /The screening list (is not a file|cannot be read: EISDIR)/);
    await writeFile(join(path, 'broken.txt'), 'alice');
    await assert.rejects(start(join(path, 'broken.txt')), /in line 1 \(.*broken\.txt\)\.$/);
  });
});
