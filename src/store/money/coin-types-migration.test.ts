import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { coinOf, REGISTRY } from '../../../test/registry.ts';
import { sealLeaseName, sealOnce } from '../../actions/books/seal-entries.ts';
import { verifyBooks } from '../../actions/books/verify-books.ts';
import { command } from '../../actions/command.ts';
import { gasEntry, relayerFundedEntry } from '../../domain/books.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import { type Database, openDatabase } from '../plumbing/database.ts';
import { type Lease, takeLease } from '../plumbing/leases.ts';
import { insertEntries, listBalances } from './books.ts';

const MIGRATION = readFileSync(join(import.meta.dirname, '../../../migrations/0012_coin_types.sql'), 'utf8');
const RELAYER = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const PROOF = { transaction: `0x${'ab'.repeat(32)}`, block: 7 };
const WRONG = ['eip155:42220', 'eip155:143', 'eip155:80002'];
const RIGHT = 'eip155:8453';

describe('the migration to the right numbers of coins', () => {
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

  const log = pino({ level: 'silent' });
  const deps = () => ({ registry: REGISTRY, db, world: systemWorld, log, holder: 'test' });

  const leases = new Map<string, Lease>();

  async function seal(network: string): Promise<void> {
    const now = new Date(systemWorld.clock.nowMs());
    const ask = { name: sealLeaseName(network), holder: 'test', now, until: new Date(now.getTime() + 60_000) };
    const lease = leases.get(network) ?? (await command(deps(), (tx) => takeLease(tx, ask)));
    assert.ok(lease);
    leases.set(network, lease);
    await sealOnce(deps(), network, lease);
  }

  const held = async (network: string) =>
    (await listBalances(db.sql, network)).map(({ account, asset, units }) => [account, asset, units]);

  it('moves the balances of the books, leaves every entry unchanged, and touches no other network', async () => {
    for (const network of [...WRONG, RIGHT]) {
      const subject = { network, asset: `${network}/slip44:60`, signer: RELAYER };
      await command(deps(), (tx, now) => insertEntries(tx, [relayerFundedEntry(subject, 100n, 5)], now));
      await seal(network);
      await command(deps(), (tx, now) => insertEntries(tx, [gasEntry(subject, 30n, PROOF)], now));
    }
    await command(deps(), (tx) => tx.unsafe(MIGRATION));
    for (const network of [...WRONG, RIGHT]) {
      const asset = coinOf(network);
      const expected = [
        [`gas/${RELAYER}`, asset, 30n],
        ['outside', asset, -100n],
        [`relayer/${RELAYER}`, asset, 70n],
      ];
      assert.deepEqual(await held(network), expected);
      await seal(network);
      assert.deepEqual(await held(network), expected);
    }
    const reports = await verifyBooks(db.sql);
    assert.deepEqual(
      reports.flatMap(({ problems }) => problems),
      [],
    );
    const entries = await db.sql<{ network: string; entries: number }[]>`
      select network, count(*)::int as entries from book_entries group by network`;
    assert.deepEqual(
      Object.fromEntries(entries.map(({ network, entries: count }) => [network, count])),
      Object.fromEntries([...WRONG.map((network) => [network, 4]), [RIGHT, 2]]),
    );
  });

  it('does nothing where there is nothing to move', async () => {
    const before = await Promise.all(WRONG.map(held));
    await command(deps(), (tx) => tx.unsafe(MIGRATION));
    assert.deepEqual(await Promise.all(WRONG.map(held)), before);
    assert.deepEqual(before.flat().length, 9);
  });
});
