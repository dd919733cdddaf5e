import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { connectTo, createEmptyDatabase, type TestConnection, type TestDatabase } from '../../../test/database.ts';
import { UNFILTERED } from '../../../test/unfiltered.ts';
import { newId } from '../../domain/ids.ts';
import type { PaymentFilter } from './payment-filter.ts';
import { readPaymentStats } from './payment-stats.ts';

const FOLDER = join(import.meta.dirname, '../../../migrations');
const NAME = 'fair_lists.sql';
const USDC = 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 1, 1);

describe('the migration to totals by token and day', () => {
  let own: TestDatabase;
  let sql: TestConnection;
  const files = readdirSync(FOLDER).toSorted();
  const run = (file: string) => sql.unsafe(readFileSync(join(FOLDER, file), 'utf8'));
  before(async () => {
    own = await createEmptyDatabase();
    sql = connectTo(own.url);
    const last = files.findIndex((file) => file.endsWith(NAME));
    for (const file of files.slice(0, last)) await run(file);
    await addOldPayments(sql);
    // In transactions. Indexes of later migrations that are built without one have nobody to wait for here.
    for (const file of files.slice(last)) {
      const text = readFileSync(join(FOLDER, file), 'utf8').replaceAll(' concurrently', '');
      await sql.unsafe(`begin; ${text}; commit`);
    }
  });
  after(async () => {
    await sql.end();
    await own.drop();
  });

  const all: PaymentFilter = {
    ...UNFILTERED,
    partnerId: 'prtn_1',
    mode: 'test',
    merchantIds: ['mrch_1'],
    now: new Date(START_MS + 10 * DAY_MS),
  };
  const stats = async (more: Partial<PaymentFilter>) => {
    const { transactions, customers, revenue } = await readPaymentStats(sql, { ...all, ...more });
    return [transactions, customers, revenue.map(({ units }) => units)];
  };

  it('counts the payments that were there, without the revenue of refunded ones', async () => {
    assert.deepEqual(await stats({}), [9, 4, [500n]]);
    assert.deepEqual(await stats({ statuses: ['succeeded'] }), [6, 4, [500n]]);
    assert.deepEqual(await stats({ assets: [USDC] }), [6, 4, [500n]]);
    assert.deepEqual(await stats({ networks: ['eip155:1'] }), [0, 0, []]);
    assert.deepEqual(await stats({ fromMs: START_MS + DAY_MS, untilMs: START_MS + 2 * DAY_MS }), [3, 2, [100n]]);
    assert.deepEqual(await stats({ fromMs: START_MS + 1.5 * DAY_MS }), [3, 2, [200n]]);
  });
});

/** On each of three days two payments succeeded and one expired. The second one of the second day was refunded. */
async function addOldPayments(sql: TestConnection): Promise<void> {
  await sql`insert into partners (id, name, pinned_version, created_at) values ('prtn_1', 'P', '2026-02-18', now())`;
  await sql`
    insert into merchants (id, partner_id, mode, name, status, created_at, updated_at)
    values ('mrch_1', 'prtn_1', 'test', 'M', 'active', now(), now())`;
  for (let n = 0; n < 9; n += 1) {
    const atMs = START_MS + Math.floor(n / 3) * DAY_MS + n;
    const id = newId('pay_', atMs, new Uint8Array(10).fill(n));
    const isPaid = n % 3 < 2;
    const buyer = isPaid ? `eip155:8453:0x${String(n % 4).padStart(40, '0')}` : null;
    await sql`
      insert into payments (id, partner_id, mode, merchant_id, reference_id, amount_unit, amount_value, amount_decimals,
        status, created_at, updated_at, expires_at, token_asset, token_value, buyer_account, transaction_hash)
      values (${id}, 'prtn_1', 'test', 'mrch_1', 'order', 'iso4217/USD', 100, 2, ${isPaid ? 'succeeded' : 'expired'},
        ${new Date(atMs)}, ${new Date(atMs)}, ${new Date(atMs)}, ${isPaid ? USDC : null}, ${isPaid ? 100 : null},
        ${buyer}, ${isPaid ? '0x' : null})`;
    if (n !== 4) continue;
    await sql`
      insert into refunds (id, payment_id, merchant_id, network, asset, method, recipient, amount, state, from_held,
        from_merchant, from_operator, account, transaction_hash, requested_at, updated_at)
      values ('rfnd_1', ${id}, 'mrch_1', 'eip155:8453', ${USDC}, 'authorization', '0x', 100, 'refunded', 0, 0, 100, '0x', '0x',
        now(), now())`;
  }
}
