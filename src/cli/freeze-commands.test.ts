import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { REGISTRY } from '../../test/registry.ts';
import { jsonOf, runCommand } from '../../test/run-command.ts';
import { command } from '../actions/command.ts';
import { putDestinations } from '../actions/parties/destination-rows.ts';
import { rowKeysOf } from '../actions/row-keys.ts';
import { termsAfterChange, termsOfNew } from '../domain/cooling-off.ts';
import { createSecrets } from '../runtime/secrets.ts';
import { systemWorld } from '../runtime/system-world.ts';
import { insertMerchant } from '../store/parties/merchants.ts';
import { type Database, openDatabase } from '../store/plumbing/database.ts';

const MERCHANT = 'mrch_01KHRZ5Q8MB2N4P6R8T0V2X4Z6';
const ASSET = 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const DAY_MS = 24 * 3_600_000;
const SECRET = randomBytes(32);

// biome-ignore lint/suspicious/noExplicitAny: output is read as a program outside would read it, without types.
type Json = any;

describe('till freeze', () => {
  let database: TestDatabase;
  let db: Database;
  let partner: string;
  before(async () => {
    database = await createTestDatabase();
    db = openDatabase({ url: database.url, poolSize: 2, applicationName: 'test' });
    partner = (await json('partners', 'create', '--name', 'Some')).id;
    const fields = { id: MERCHANT, partnerId: partner, mode: 'live', name: 'M', email: null, iconUrl: null } as const;
    await command({ registry: REGISTRY, db, world: systemWorld }, (tx, now) =>
      insertMerchant(tx, { ...fields, status: 'active', createdAt: now, updatedAt: now }),
    );
  });
  after(async () => {
    await db.close();
    await database.drop();
  });

  const settings = () => ({
    env: { DATABASE_URL: database.url, TILL_OPERATOR: 'alice', TILL_SECRET: SECRET.toString('base64') },
    world: systemWorld,
  });
  const till = (...argv: string[]) => runCommand(argv, settings());
  const json = (...argv: string[]) => jsonOf(argv, settings());

  it('stops a merchant, a partner, a network, an asset, payouts and refunds, until each is lifted', async () => {
    const targets = [
      ['merchant', MERCHANT],
      ['partner', partner],
      ['network', 'eip155:8453'],
      ['asset', 'eip155:8453/slip44:60'],
      ['payouts'],
      ['refunds'],
    ];
    for (const target of targets) {
      assert.equal((await json('freeze', ...target, '--reason', 'case 42')).isNew, true);
      assert.equal((await json('freeze', ...target, '--reason', 'again')).isNew, false);
    }
    const listed = await json('freezes');
    assert.deepEqual(
      listed.map((row: Json) => [row.scope, row.subject, row.reason, row.actor]).toSorted(),
      targets.map(([scope, subject = '']) => [scope, subject, 'case 42', 'operator:alice (self-declared)']).toSorted(),
    );
    const alerts = await json('alerts');
    assert.ok(alerts.every(({ name, message }: Json) => name === 'frozen' && message.includes('alice')));
    assert.equal(alerts.length, targets.length);
    for (const target of targets) {
      assert.equal((await json('unfreeze', ...target, '--reason', 'solved')).reason, 'case 42');
    }
    assert.match((await till('freezes')).stdout, /Nothing is frozen/);
    assert.deepEqual(await json('alerts'), []);
  });

  it('needs a reason, and something that is there', async () => {
    assert.equal((await till('freeze', 'payouts')).exitCode, 2);
    for (const target of [
      ['freeze', 'merchant', 'mrch_other'],
      ['freeze', 'partner', 'prtn_other'],
      ['freeze', 'network', 'eip155:84530'],
      ['freeze', 'asset', 'eip155:8453/slip44:61'],
      ['unfreeze', 'payouts'],
    ]) {
      assert.equal((await till(...target, '--reason', 'x')).exitCode, 1, target.join(' '));
    }
  });

  it('says by `till restored` that payouts and refunds wait for a rebuild on every network', async () => {
    assert.deepEqual((await json('restored')).networks, ['eip155:31337']);
    const [row] = await json('freezes');
    assert.deepEqual([row.scope, row.subject], ['restored', 'eip155:31337']);
    await json('unfreeze', 'restored', 'eip155:31337', '--reason', 'checked by hand');
  });

  it('goes with `till destinations veto`, which keeps the destination in force', async () => {
    const destination = 'eip155:8453:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
    const other = 'eip155:8453:0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359';
    const id = 'crypto_01KHRZ5Q8MB2N4P6R8T0V2X4Z6';
    await command({ registry: REGISTRY, db, world: systemWorld }, (tx, now) => {
      const period = { now, periodMs: DAY_MS };
      const terms = termsAfterChange(termsOfNew(destination, undefined, period), other, period);
      const row = { id, merchantId: MERCHANT, asset: ASSET, assetKey: ASSET.toLowerCase(), ...terms, createdAt: now };
      return putDestinations(tx, { rowKeys: rowKeysOf(createSecrets([SECRET])) }, [row]);
    });
    const [pending, ...more] = await json('destinations', 'pending', '--merchant', MERCHANT);
    assert.deepEqual([pending.id, pending.pendingDestination, more.length], [id, other, 0]);
    const kept = await json('destinations', 'veto', id, '--reason', 'not ordered');
    assert.deepEqual([kept.destination, kept.pendingDestination], [destination, null]);
    assert.deepEqual(await json('destinations', 'pending'), []);
    assert.equal((await till('destinations', 'veto', id, '--reason', 'x')).exitCode, 1);
    assert.equal((await json('destinations', 'remove', id, '--reason', 'set by a thief')).destination, destination);
    assert.equal((await till('destinations', 'remove', id, '--reason', 'x')).exitCode, 1);
  });
});
