import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import { type Database, openDatabase, type Tx } from '../plumbing/database.ts';
import { insertSend, insertVersion, listOpenSends, takeBytes } from './sends.ts';

const ID = { network: 'eip155:8453', signer: '0xA' };
const AT = new Date('2026-11-19T08:00:00Z');
const LATER = new Date('2026-12-19T08:00:00Z');

describe('an open slot whose bytes were pruned', () => {
  let own: TestDatabase;
  let db: Database;
  before(async () => {
    own = await createTestDatabase();
    db = openDatabase({ url: own.url, poolSize: 1, applicationName: 'till-test' });
  });
  after(async () => {
    await db.close();
    await own.drop();
  });
  const run = <T>(work: (tx: Tx) => Promise<T>) => db.begin(systemWorld.random, work);
  const version = (slot: number, hash: string, price: bigint) => ({
    slot,
    hash,
    bytes: `${hash}ff`,
    offer: { price, terms: { tip: '1' } },
    cost: 1n,
  });
  const open = async (slot: number) => (await listOpenSends(db.sql, ID, { from: slot, to: slot + 1 }))[0];

  async function pruned(slot: number, hash: string) {
    const send = { ...version(slot, hash, 1_000n), kind: 'nothing', fencing: 1, keys: [], at: AT } as const;
    await run((tx) => insertSend(tx, ID, send));
    assert.equal((await open(slot))?.isPruned, false);
    await run((tx) => tx`update relay_versions set bytes = '' where hash = ${hash}`);
    assert.equal((await open(slot))?.isPruned, true);
  }

  it('goes on with a new version, however little that offers', async () => {
    await pruned(1, '0x01');
    await run((tx) => insertVersion(tx, ID, version(1, '0x02', 100n), LATER));
    const send = await open(1);
    assert.deepEqual([send?.hash, send?.offer.price, send?.isPruned], ['0x02', 100n, false]);
  });

  it('goes on with the same version, if it is signed again with the same offer', async () => {
    await pruned(2, '0x03');
    await run((tx) => insertVersion(tx, ID, version(2, '0x03', 1_000n), LATER));
    const send = await open(2);
    assert.deepEqual([send?.hash, send?.signedAt, send?.isPruned], ['0x03', LATER, false]);
    assert.equal(await run((tx) => takeBytes(tx, '0x03', LATER)), '0x03ff');
  });
});
