import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { REGISTRY } from '../../../test/registry.ts';
import { command } from '../../actions/command.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import { appendAudit } from '../plumbing/audit-log.ts';
import { type Database, openDatabase } from '../plumbing/database.ts';
import { insertMerchant } from './merchants.ts';
import { insertPartner } from './partners.ts';

const FOLDER = join(import.meta.dirname, '../../../migrations');
const file = readdirSync(FOLDER).find((name) => name.endsWith('_freezes.sql')) ?? '';
const whole = readFileSync(join(FOLDER, file), 'utf8');
/** The part that reads the audit log. The tables are there already. */
const BACKFILL = whole.slice(whole.indexOf('insert into removed_destinations'));

const MERCHANT = 'mrch_test';
const EVM = 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/token:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';

describe('the migration to destinations that cool off', () => {
  let own: TestDatabase;
  let db: Database;
  before(async () => {
    own = await createTestDatabase();
    db = openDatabase({ url: own.url, poolSize: 2, applicationName: 'till-test' });
  });
  after(async () => {
    await db.close();
    await own.drop();
  });

  it('knows the last removed destination of each merchant and asset from the audit log', async () => {
    await command({ registry: REGISTRY, db, world: systemWorld }, async (tx, at) => {
      const partner = { id: 'prtn_test', name: 'Test', pinnedVersion: '2026-02-18', frameOrigins: [] } as const;
      await insertPartner(tx, { ...partner, createdAt: at });
      const merchant = { id: MERCHANT, partnerId: 'prtn_test', mode: 'test', name: 'M', email: null } as const;
      await insertMerchant(tx, { ...merchant, status: 'active', iconUrl: null, createdAt: at, updatedAt: at });
      const removed = (subject: string, asset: string, destination: string) =>
        appendAudit(tx, {
          at,
          actor: 'key:1',
          action: 'settlement.removed',
          subject,
          detail: { id: 'x', asset, destination },
        });
      await removed(MERCHANT, EVM, 'first');
      await removed(MERCHANT, EVM, 'second');
      await removed(MERCHANT, SOLANA, 'third');
      await removed('mrch_gone', EVM, 'fourth');
      await tx.unsafe(BACKFILL);
      const known = await tx<{ assetKey: string; destination: string; heldFrom: Date }[]>`
        select asset_key as "assetKey", destination, held_from as "heldFrom" from removed_destinations
        where merchant_id = ${MERCHANT}`;
      assert.deepEqual(known.map(({ assetKey, destination }) => [assetKey, destination]).toSorted(), [
        [EVM.toLowerCase(), 'second'],
        [SOLANA, 'third'],
      ]);
      assert.ok(known.every(({ heldFrom }) => heldFrom.getTime() === 0));
    });
  });
});
