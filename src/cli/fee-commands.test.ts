import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { REGISTRY } from '../../test/registry.ts';
import { jsonOf, runCommand } from '../../test/run-command.ts';
import { command } from '../actions/command.ts';
import { newId } from '../domain/ids.ts';
import { systemWorld } from '../runtime/system-world.ts';
import type { World } from '../runtime/world.ts';
import { findPayableMerchants, insertMerchant } from '../store/parties/merchants.ts';
import { type Database, openDatabase } from '../store/plumbing/database.ts';

const START_MS = Date.parse('2026-11-15T12:00:00Z');
const USDC = 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const START = '2026-11-15T12:00:00.000Z';

// biome-ignore lint/suspicious/noExplicitAny: output is read as a program outside would read it, without types.
type Json = any;

describe('till fees', () => {
  let database: TestDatabase;
  let db: Database;
  let nowMs = START_MS;
  const world: World = { ...systemWorld, clock: { nowMs: () => nowMs } };
  before(async () => {
    database = await createTestDatabase();
    db = openDatabase({ url: database.url, poolSize: 2, applicationName: 'test' });
  });
  after(async () => {
    await db.close();
    await database.drop();
  });

  const settings = () => ({ env: { DATABASE_URL: database.url }, world });
  const till = (...argv: string[]) => runCommand(argv, settings());
  const json = (...argv: string[]) => jsonOf(argv, settings());
  const newPartner = async (): Promise<string> => (await json('partners', 'create', '--name', 'Some')).id;
  function newMerchant(partnerId: string): Promise<string> {
    return command({ registry: REGISTRY, db, world }, async (tx, now) => {
      const id = newId('mrch_', now.getTime(), world.random.bytes(10));
      const fields = { id, partnerId, mode: 'test', name: 'M', email: null, status: 'active', iconUrl: null } as const;
      await insertMerchant(tx, { ...fields, createdAt: now, updatedAt: now });
      return id;
    });
  }

  it('begin by the time of the database, on a machine whose clock is an hour ahead', async () => {
    const partner = await newPartner();
    const aheadMs = 3_600_000;
    const machineClock = { nowMs: () => systemWorld.clock.nowMs() + aheadMs };
    const run = async (...more: string[]) => {
      const argv = ['fees', 'set', '--partner', partner, '--percentage', '1', ...more];
      return Date.parse((await jsonOf(argv, { env: { DATABASE_URL: database.url }, machineClock })).startsAt);
    };
    const [row] = await db.sql<{ now: Date }[]>`select clock_timestamp() as now`;
    const aboutMs = row?.now.getTime() ?? 0;
    const isAbout = (atMs: number, expectedMs: number) => Math.abs(atMs - expectedMs) < aheadMs / 2;
    assert.ok(isAbout(await run(), aboutMs), 'it begins now');
    assert.ok(isAbout(await run('--from', '2h'), aboutMs + 2 * aheadMs), 'a span counts from now as well');
    // For this machine, that time is over.
    const soonMs = aboutMs + aheadMs / 2;
    assert.equal(await run('--from', new Date(soonMs).toISOString()), soonMs);
    const past = new Date(aboutMs - aheadMs / 2).toISOString();
    const argv = ['fees', 'set', '--partner', partner, '--percentage', '1', '--from', past];
    const behind = { nowMs: () => systemWorld.clock.nowMs() - aheadMs };
    const { exitCode, stderr } = await runCommand(argv, { env: { DATABASE_URL: database.url }, machineClock: behind });
    assert.equal(exitCode, 2);
    assert.match(stderr, /--from must be in the future/);
  });

  it('are set for a partner and for one of its merchants, and payments then go by them', async () => {
    const partner = await newPartner();
    const merchant = await newMerchant(partner);
    const set = await json(
      ...['fees', 'set', '--partner', partner, '--percentage', '0.4'],
      ...['--fixed', 'iso4217/USD=14', '--fixed', `caip19/${USDC.toLowerCase()}=140000`],
    );
    assert.deepEqual([set.partnerId, set.merchantId, set.percentage, set.startsAt], [partner, null, '0.4', START]);
    assert.deepEqual(set.fixed, [
      { unit: 'iso4217/USD', value: '14' },
      { unit: `caip19/${USDC}`, value: '140000' },
    ]);
    const own = await json('fees', 'set', '--merchant', merchant, '--percentage', '2.50');
    assert.deepEqual([own.partnerId, own.merchantId, own.fixed], [partner, merchant, []]);

    const [row] = await findPayableMerchants(db.sql, [merchant]);
    assert.deepEqual(row?.fees, [
      { percentage: '0.4', fixed: set.fixed, isMerchants: false, startsAtMs: START_MS },
      { percentage: '2.50', fixed: [], isMerchants: true, startsAtMs: START_MS },
    ]);
    const audit = await db.sql`
      select actor, action, subject, detail from audit_log where subject in (${partner}, ${merchant}) and action = 'fees.set'
      order by id`;
    assert.deepEqual(
      audit.map(({ actor, action, subject }) => [actor, action, subject]),
      [
        ['operator', 'fees.set', partner],
        ['operator', 'fees.set', merchant],
      ],
    );
    assert.deepEqual(audit[1]?.detail, {
      before: null,
      after: { percentage: '2.50', fixed: [], startsAt: START },
    });
  });

  it('are dated: a list shows which are over, in force and scheduled', async () => {
    const partner = await newPartner();
    const states = async () =>
      (await json('fees', 'list', '--partner', partner)).map((fees: Json) => [fees.percentage, fees.state]);
    assert.equal((await till('fees', 'list', '--partner', partner)).stdout, 'No fees are set.\n');
    await json('fees', 'set', '--partner', partner, '--percentage', '1');
    await json('fees', 'set', '--partner', partner, '--percentage', '3', '--from', '2d');
    await json('fees', 'set', '--partner', partner, '--percentage', '2');
    assert.deepEqual(await states(), [
      ['1', 'over'],
      ['2', 'in force'],
      ['3', 'scheduled'],
    ]);
    nowMs += 2 * 86_400_000;
    assert.deepEqual(await states(), [
      ['1', 'over'],
      ['2', 'over'],
      ['3', 'in force'],
    ]);
    nowMs = START_MS;
  });

  it('are shown as people write amounts', async () => {
    const partner = await newPartner();
    const fixed = ['--fixed', 'iso4217/USD=14', '--fixed', 'iso4217/JPY=30', '--fixed', `caip19/${USDC}=5`];
    const { stdout } = await till('fees', 'set', '--partner', partner, '--percentage', '0.4', ...fixed);
    assert.match(stdout, /percentage +0\.4 %\nfixed +0\.14 USD, 30 JPY, 0\.000005 USDC on Base\n/);
    const list = await till('fees', 'list', '--partner', partner);
    assert.match(list.stdout, /^PARTNER .*STATE\nprtn_\w+ +all +0\.4 % +0\.14 USD.* in force\n$/);
  });

  it('are refused when invalid, and nothing is set', async () => {
    const partner = await newPartner();
    const merchant = await newMerchant(partner);
    const to = ['--partner', partner];
    const cases: readonly [argv: string[], problem: RegExp][] = [
      [[...to, '--percentage', '100.1'], /--percentage must be a percentage from 0 to 100/],
      [[...to, '--percentage', '101'], /--percentage must be/],
      [[...to, '--percentage=-1'], /--percentage must be/],
      [[...to, '--percentage', `0.${'3'.repeat(30)}`], /at most 18 decimals/],
      [[...to, '--percentage', '1e1'], /--percentage must be/],
      [[...to, '--percentage', '.5'], /--percentage must be/],
      [[...to, '--percentage', '05'], /--percentage must be/],
      [[...to, '--percentage', '0,4'], /--percentage must be/],
      [to, /--percentage is missing/],
      [[...to, '--percentage', '1', '--fixed', 'USD=14'], /--fixed has a unit that must begin with iso4217/],
      [[...to, '--percentage', '1', '--fixed', 'iso4217/USD'], /--fixed must be a unit and an amount/],
      [[...to, '--percentage', '1', '--fixed', 'iso4217/USD=0.14'], /--fixed must be/],
      [[...to, '--percentage', '1', '--fixed', 'iso4217/USD=-1'], /--fixed must be/],
      [
        [...to, '--percentage', '1', '--fixed', 'iso4217/USD=1', '--fixed', 'iso4217/USD=2'],
        /--fixed names iso4217\/USD more than once/,
      ],
      [[...to, '--percentage', '100', '--fixed', 'iso4217/USD=1'], /more than any payment has/],
      [[...to, '--percentage', '1', '--from', '2020-01-01T00:00:00Z'], /--from must be in the future/],
      [[...to, '--merchant', merchant, '--percentage', '1'], /either --partner or --merchant/],
      [['--percentage', '1'], /either --partner or --merchant/],
    ];
    for (const [argv, problem] of cases) {
      const { exitCode, stdout, stderr } = await till('fees', 'set', ...argv);
      assert.deepEqual([exitCode, stdout], [2, ''], argv.join(' '));
      assert.match(stderr, problem, argv.join(' '));
    }
    for (const [argv, code] of [
      [['set', '--partner', 'prtn_unknown', '--percentage', '1'], 'partner_not_found'],
      [['set', '--merchant', 'mrch_unknown', '--percentage', '1'], 'merchant_not_found'],
      [['list', '--partner', 'prtn_unknown'], 'partner_not_found'],
      [['list', '--merchant', 'mrch_unknown'], 'merchant_not_found'],
    ] as const) {
      const { exitCode, stderr } = await till('fees', ...argv, '--json');
      assert.deepEqual([exitCode, JSON.parse(stderr).code], [1, code], argv.join(' '));
    }
    assert.deepEqual(await json('fees', 'list', '--partner', partner), []);
  });
});
