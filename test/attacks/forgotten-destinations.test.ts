import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { adoptRows } from '../../src/actions/outgoing/order/adopt-rows.ts';
import { createCoolOff, expelDestination, vetoDestination } from '../../src/actions/parties/cool-off-destinations.ts';
import { lastDestinations } from '../../src/actions/parties/destination-memory.ts';
import { adoptHistory, isOwnDestination } from '../../src/actions/parties/destination-rows.ts';
import { openOption } from '../../src/domain/option.ts';
import { macOfRow } from '../../src/domain/row-mac.ts';
import { findDestinationRows } from '../../src/store/parties/destinations.ts';
import { listAlerts } from '../../src/store/plumbing/alerts.ts';
import { connectTo, type TestConnection } from '../database.ts';
import { DESTINATION, INTERMEDIATE, openPayingShop, type PayingShop, SANDBOX, USDC } from '../e2e/paying-shop.ts';
import { DOLLAR, openRefundScene, type RefundScene } from '../e2e/refund-scene.ts';
import { freshKey } from '../gateway.ts';

const HOURS = 24;
const PERIOD_MS = HOURS * 3_600_000;
const OWN = `${SANDBOX}:${DESTINATION}`;
const THIEF = `${SANDBOX}:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed`;
const OTHER = `${SANDBOX}:0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359`;
const MIGRATION = readFileSync(join(import.meta.dirname, '../../migrations/0022_destination_history.sql'), 'utf8');
/** The part that reads the tables of the version before. The tables are there already. */
const BACKFILL = MIGRATION.slice(MIGRATION.indexOf('insert into destination_history'));
const BY = { actor: 'operator', reason: 'not ordered by the merchant' };

describe('destinations of the version before', () => {
  let scene: RefundScene;
  beforeEach(async () => {
    scene = await openRefundScene();
  });
  afterEach(() => scene.close());

  it('are genuine after the first start if their MACs are right, and are remembered', async () => {
    const sql = connectTo(scene.databaseUrl);
    const { merchantId, rowKeys } = scene;
    const heldFrom = new Date(0);
    const terms = { merchantId, asset: DOLLAR, destination: OWN, pendingDestination: null, effectiveAt: null };
    const fields = { ...terms, heldFrom: heldFrom.toISOString() };
    const rows = [
      {
        id: 'crypto_own',
        key: DOLLAR.toLowerCase(),
        mac: macOfRow(rowKeys, 'crypto_settlements', { ...fields, id: 'crypto_own' }),
      },
      { id: 'crypto_forged', key: 'other', mac: 'forged' },
    ];
    for (const { id, key, mac } of rows) {
      await sql`
        insert into crypto_settlements (id, merchant_id, asset, asset_key, destination, held_from, mac, created_at, updated_at)
        values (${id}, ${merchantId}, ${DOLLAR}, ${key}, ${OWN}, ${heldFrom}, ${mac}, now(), now())`;
    }
    await sql`
      insert into removed_destinations (merchant_id, asset_key, destination, held_from, removed_at)
      values (${merchantId}, 'removed', ${OTHER}, ${heldFrom}, now())`;
    await sql.unsafe(BACKFILL);
    // The version before has authenticated its rows.
    await sql`insert into audit_log (at, actor, action, subject, detail) values (now(), 'gateway', 'rows.adopted', 'crypto_settlements', '{}')`;
    await adoptRows(scene);
    const found = await findDestinationRows(
      sql,
      rows.map(({ id }) => id),
    );
    assert.deepEqual(Object.fromEntries(found.map((row) => [row.id, isOwnDestination(scene, row)])), {
      crypto_own: true,
      crypto_forged: false,
    });
    const remembered = await lastDestinations(sql, scene, merchantId);
    assert.equal(remembered.get(DOLLAR.toLowerCase())?.destination, OWN);
    assert.equal(remembered.get('removed')?.destination, OTHER);
    await sql.end();
  });
});

describe('an attacker with a stolen API key who writes destinations into the database', () => {
  let paying: PayingShop;
  let sql: TestConnection;
  let merchantId: string;
  beforeEach(async () => {
    paying = await openPayingShop({ config: { coolingOffHours: HOURS } });
    sql = connectTo(paying.gateway.databaseUrl);
    merchantId = paying.shop.merchant.id;
  });
  afterEach(async () => {
    await sql.end();
    await paying.gateway.stop();
  });

  async function call(method: 'POST' | 'PUT' | 'DELETE', path: string, payload?: object) {
    const response = await paying.gateway.call({
      method,
      url: `/v1/merchants/${merchantId}/settlements/crypto${path}`,
      headers: { ...paying.shop.headers, ...(method === 'POST' && { 'idempotency-key': freshKey() }) },
      ...(payload && { payload }),
    });
    assert.ok(response.statusCode < 300, response.body);
    return response.json();
  }
  /** The destination in force and the pending one, after a registration. */
  async function register(destination: string): Promise<{ id: string; inForce: string; pending: string | undefined }> {
    const { settlements } = await call('POST', '', { settlements: [{ asset: USDC, destination }] });
    const { id, destination: inForce, pendingDestination: pending } = settlements[0];
    return { id, inForce, pending };
  }
  const remove = (id: string) => call('DELETE', `/${id}`);
  const recipient = async () => {
    const payer = paying.newPayer({ [USDC]: 10_000_000n });
    const id = await paying.created();
    const { id: optionId } = await paying.wallet.option(id, payer.account, USDC);
    return openOption(paying.gateway.optionKeys, id, optionId)?.item.recipient;
  };
  const copyOf = async (id: string) =>
    (await sql`select to_jsonb(c) as row from crypto_settlements c where id = ${id}`)[0]?.row;
  async function putBack(row: unknown): Promise<void> {
    await sql`delete from crypto_settlements`;
    await sql`
      insert into crypto_settlements
      select * from jsonb_populate_record(null::crypto_settlements, ${sql.json(row as never)}::jsonb)`;
  }

  for (const [name, forget] of [
    [
      'by forgetting a removed destination',
      async (id: string) => {
        await remove(id);
        await sql`delete from removed_destinations`;
      },
    ],
    ['by deleting the destination in the database', async () => sql`delete from crypto_settlements`],
    [
      'by a removed destination of its own',
      async (id: string) => {
        await remove(id);
        await sql`update removed_destinations set destination = ${THIEF}`;
      },
    ],
    [
      'by a history of its own',
      async (id: string) => {
        await remove(id);
        await sql`
        insert into destination_history (merchant_id, asset_key, number, destination, held_from, mac, at)
        select merchant_id, asset_key, 99, ${THIEF}, 'epoch', mac, now() from destination_history limit 1`;
      },
    ],
    [
      'by an order of an operator of its own',
      async (id: string) => {
        await remove(id);
        await sql`
        insert into destination_history (merchant_id, asset_key, number, mac, at)
        select merchant_id, asset_key, 99, mac, now() from destination_history limit 1`;
      },
    ],
  ] as const) {
    it(`skips no cooling-off period ${name}`, async () => {
      const { id } = await register(OWN);
      await forget(id);
      const { inForce, pending } = await register(THIEF);
      assert.deepEqual([inForce, pending], [OWN, THIEF]);
      assert.equal(await recipient(), DESTINATION);
    });
  }

  it('cannot change or delete the history', async () => {
    await register(OWN);
    for (const statement of [
      'delete from destination_history',
      "update destination_history set destination = 'x'",
      'truncate destination_history',
    ]) {
      await assert.rejects(sql.unsafe(statement), /are never changed/, statement);
    }
  });

  it('has no history believed at a later start: that of an older version is taken over once', async () => {
    const { id } = await register(OWN);
    await remove(id);
    await sql`
      insert into destination_history (merchant_id, asset_key, number, destination, held_from, mac, at)
      select merchant_id, asset_key, 99, ${THIEF}, 'epoch', '', now() from destination_history limit 1`;
    await adoptHistory(paying.gateway);
    assert.deepEqual((await register(OTHER)).inForce, OWN);
  });

  it('has no change applied that was vetoed, by putting the row back', async () => {
    const { id } = await register(OWN);
    await call('PUT', `/${id}`, { destination: THIEF });
    const ordered = await copyOf(id);
    await vetoDestination(paying.gateway, { settlementId: id, ...BY });
    await putBack(ordered);
    await paying.time.advance(PERIOD_MS);
    await createCoolOff(paying.gateway)();
    assert.equal(await recipient(), INTERMEDIATE);
    assert.deepEqual(
      (await listAlerts(sql)).map(({ name, subject }) => `${name} ${subject}`),
      [`destination_refused ${id}`],
    );
  });

  it('is not paid again to a destination that was removed, by putting the row back', async () => {
    for (const end of [remove, (id: string) => expelDestination(paying.gateway, { settlementId: id, ...BY })]) {
      const { id } = await register(THIEF);
      const row = await copyOf(id);
      await end(id);
      await putBack(row);
      assert.equal(await recipient(), INTERMEDIATE);
      await expelDestination(paying.gateway, { settlementId: id, ...BY });
    }
  });

  it('leaves the first destination of a merchant, and the next after an expelled one, in force at once', async () => {
    const { id, inForce } = await register(THIEF);
    assert.equal(inForce, THIEF);
    await expelDestination(paying.gateway, { settlementId: id, ...BY });
    const { inForce: next, pending } = await register(OWN);
    assert.deepEqual([next, pending], [OWN, undefined]);
  });
});
