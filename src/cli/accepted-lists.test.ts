import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { REGISTRY } from '../../test/registry.ts';
import { jsonOf, runCommand } from '../../test/run-command.ts';
import { command } from '../actions/command.ts';
import { newId } from '../domain/ids.ts';
import type { Mode } from '../domain/mode.ts';
import { systemWorld } from '../runtime/system-world.ts';
import { insertMerchant } from '../store/parties/merchants.ts';
import { type Database, openDatabase } from '../store/plumbing/database.ts';

const USDC = 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const EURC = 'eip155:8453/erc20:0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42';
const TEST_USDC = 'eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e';
const ACCOUNT = '0x1111111111111111111111111111111111111111';
/** No command calls these endpoints. */
const RPC_URLS = 'eip155:8453=http://127.0.0.1:9 eip155:84532=http://127.0.0.1:9';

describe('till partners set and merchants set, with accepted assets', () => {
  let database: TestDatabase;
  let db: Database;
  before(async () => {
    database = await createTestDatabase();
    db = openDatabase({ url: database.url, poolSize: 2, applicationName: 'test' });
  });
  after(async () => {
    await db.close();
    await database.drop();
  });

  const settings = () => ({
    env: { DATABASE_URL: database.url, RPC_URLS, FEE_ACCOUNT: ACCOUNT, INTERMEDIATE_ACCOUNT: ACCOUNT },
    world: systemWorld,
  });
  const till = (...argv: string[]) => runCommand(argv, settings());
  const json = (...argv: string[]) => jsonOf(argv, settings());
  const newPartner = async (): Promise<string> => (await json('partners', 'create', '--name', 'Some')).id;
  function newMerchant(partnerId: string, mode: Mode = 'live'): Promise<string> {
    return command({ registry: REGISTRY, db, world: systemWorld }, async (tx, now) => {
      const id = newId('mrch_', now.getTime(), systemWorld.random.bytes(10));
      const fields = { id, partnerId, mode, name: 'M', email: null, status: 'active', iconUrl: null } as const;
      await insertMerchant(tx, { ...fields, createdAt: now, updatedAt: now });
      return id;
    });
  }

  it('set the list of each mode whose networks are named, and lift it', async () => {
    const partner = await newPartner();
    const named = ['--accept', 'eip155:8453/USDC', '--accept', 'eip155:84532'];
    assert.deepEqual((await json('partners', 'set', partner, ...named)).accepted, {
      live: [USDC],
      test: ['eip155:84532'],
    });
    const changed = await json('partners', 'set', partner, '--accept', EURC.toLowerCase(), '--accept-all', 'test');
    assert.deepEqual(changed.accepted, { live: [EURC], test: null });
    const { stdout } = await till('partners', 'set', partner, '--accept', 'eip155:8453');
    assert.match(stdout, /accepted \(test\) +every asset\n.*accepted \(live\) +every asset of Base/);
  });

  it('set and lift the list of a merchant, and say the consequence', async () => {
    const merchant = await newMerchant(await newPartner());
    const { stdout } = await till('merchants', 'set', merchant, '--accept', 'eip155:8453/USDC');
    assert.match(stdout, /New payments of mrch_\w+ \(M\) can be paid with USDC on Base\./);
    assert.deepEqual((await json('merchants', 'set', merchant, '--accept-all')).acceptedAssets, null);
    const audit = await db.sql`select detail from audit_log where subject = ${merchant} order by id desc limit 1`;
    assert.deepEqual(audit[0]?.detail, { before: { acceptedAssets: [USDC] }, after: { acceptedAssets: null } });
  });

  it('refuse what nobody could pay with', async () => {
    const partner = await newPartner();
    const merchant = await newMerchant(partner);
    const cases: [string[], RegExp][] = [
      [['merchants', 'set', merchant, '--accept', TEST_USDC], /is on a test network, where no live payment/],
      [
        ['merchants', 'set', merchant, '--accept', 'eip155:137/USDC'],
        /names an asset that this gateway takes no payments in/,
      ],
      [
        ['merchants', 'set', merchant, '--accept', 'eip155:137'],
        /names a network that this gateway takes no payments on/,
      ],
      [['merchants', 'set', merchant, '--accept', 'eip155:8453/DOGE'], /must be an asset that Till knows/],
      [['merchants', 'set', merchant, '--accept', 'base'], /must be an asset, or a network such as/],
      [['merchants', 'set', merchant], /nothing to change/],
      [['merchants', 'set', merchant, '--accept', USDC, '--accept-all'], /exclude each other/],
      [['merchants', 'set', 'mrch_none', '--accept-all'], /mrch_none was not found/],
      [['partners', 'set', partner, '--accept', USDC, '--accept-all', 'live'], /exclude each other/],
    ];
    for (const [argv, message] of cases) {
      const { exitCode, stderr } = await till(...argv);
      assert.notEqual(exitCode, 0, argv.join(' '));
      assert.match(stderr, message);
    }
    await json('merchants', 'set', merchant, '--accept', USDC);
    const { stderr } = await till('partners', 'set', partner, '--accept', EURC);
    assert.match(stderr, new RegExp(`leaves nothing to pay with for ${merchant}`));
  });
});
