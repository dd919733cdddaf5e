import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import { type Database, openDatabase, type Tx } from '../plumbing/database.ts';
import { insertSend, insertVersion, listOpenSends, takeBytes } from './sends.ts';
import { costSince } from './spending.ts';

const NETWORK = 'eip155:8453';
const ALL = { from: 0, to: 100 };
const AT = new Date('2026-11-19T08:00:00Z');
const LATER = new Date('2026-11-19T08:01:00Z');

/** The statements of a node of the version before, in its own words. */
const BEFORE = {
  send: (tx: Tx, signer: string, nonce: number) => tx`
    insert into sends (network, signer, nonce, kind, lane, fencing, created_at, state)
    values (${NETWORK}, ${signer}, ${nonce}, 'nothing', 'main', 1, ${AT}, 'open')`,
  version: (tx: Tx, signer: string, nonce: number, hash: string) => tx`
    insert into send_versions (hash, network, signer, nonce, bytes, max_fee, tip, gas_limit, created_at)
    values (${hash}, ${NETWORK}, ${signer}, ${nonce}, '0x00', '900', '80', '21000', ${AT})
    on conflict (hash) do nothing`,
  open: (tx: Tx, signer: string) => tx<Record<string, string>[]>`
    select s.nonce, v.hash, v.max_fee as "maxFee", v.tip, v.gas_limit as "gasLimit"
    from sends s, lateral (
      select hash, max_fee, tip, gas_limit from send_versions v
      where v.network = s.network and v.signer = s.signer and v.nonce = s.nonce
      order by v.max_fee desc, v.tip desc limit 1
    ) v
    where s.network = ${NETWORK} and s.signer = ${signer} and s.state = 'open' and s.nonce >= 0 and s.nonce < 100
    order by s.nonce`,
};

describe('the journal of slots, while nodes of the version before run', () => {
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
  const run = <T>(work: (tx: Tx) => Promise<T>) => db.begin(systemWorld.random, work);

  it('shows the new node what the old one has stored', async () => {
    const signer = '0xOld';
    await run(async (tx) => {
      await BEFORE.send(tx, signer, 7);
      await BEFORE.version(tx, signer, 7, '0x01');
      await BEFORE.version(tx, signer, 7, '0x01');
    });
    const [send] = await listOpenSends(db.sql, { network: NETWORK, signer }, ALL);
    assert.deepEqual([send?.slot, send?.hash], [7, '0x01']);
    assert.deepEqual(send?.offer, { price: 900n, terms: { tip: '80' } });
    const since = new Date(AT.getTime() - 1);
    assert.equal((await costSince(db.sql, { network: NETWORK, since })).all, 900n * 21_000n);
    assert.equal(await run((tx) => takeBytes(tx, '0x01', LATER)), '0x00');
  });

  it('shows the old node what the new one has stored, and what replaced it', async () => {
    const id = { network: NETWORK, signer: '0xNew' };
    const first = {
      slot: 3,
      hash: '0x02',
      bytes: '0x02',
      offer: { price: 900n, terms: { tip: '80' } },
      cost: 18_900_000n,
    };
    const second = { ...first, hash: '0x03', offer: { price: 1_013n, terms: { tip: '91' } }, cost: 1_013n * 21_000n };
    await run((tx) => insertSend(tx, id, { ...first, kind: 'nothing', fencing: 1, keys: [], at: AT }));
    const shown = (hash: string, maxFee: string, tip: string) => [{ nonce: '3', hash, maxFee, tip, gasLimit: '21000' }];
    assert.deepEqual([...(await run((tx) => BEFORE.open(tx, id.signer)))], shown('0x02', '900', '80'));
    await run((tx) => insertVersion(tx, id, second, LATER));
    assert.deepEqual([...(await run((tx) => BEFORE.open(tx, id.signer)))], shown('0x03', '1013', '91'));
    assert.equal((await listOpenSends(db.sql, id, ALL))[0]?.hash, '0x03');
  });

  it('knows the tip of a transaction that was final at the migration, if a reorg opens it again', async () => {
    const id = { network: NETWORK, signer: '0xFinal' };
    await run(async (tx) => {
      await BEFORE.send(tx, id.signer, 5);
      await BEFORE.version(tx, id.signer, 5, '0x05');
      // The migration has left versions of final slots as they were.
      await tx`update relay_versions set terms = null, cost = null where hash = '0x05'`;
    });
    const [send] = await listOpenSends(db.sql, id, ALL);
    assert.deepEqual(send?.offer, { price: 900n, terms: { tip: '80' } });
  });

  it('gives a slot to one of both', async () => {
    const id = { network: NETWORK, signer: '0xBoth' };
    const version = { slot: 0, hash: '0x04', bytes: '0x04', offer: { price: 1n, terms: {} }, cost: 1n };
    const take = () => run((tx) => insertSend(tx, id, { ...version, kind: 'nothing', fencing: 2, keys: [], at: AT }));
    await run((tx) => BEFORE.send(tx, id.signer, 0));
    await assert.rejects(take(), { code: '23505' });
    await run((tx) => tx`delete from sends where signer = ${id.signer}`);
    await take();
    await assert.rejects(
      run((tx) => BEFORE.send(tx, id.signer, 0)),
      { code: '23505' },
    );
  });
});
