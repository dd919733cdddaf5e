import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { changeMerchant } from '../../src/actions/parties/change-merchant.ts';
import { changePartner } from '../../src/actions/parties/change-partner.ts';
import { vetoDestination } from '../../src/actions/parties/cool-off-destinations.ts';
import { rotateKey } from '../../src/actions/parties/issue-key.ts';
import { lockCooledOff } from '../../src/store/parties/destinations.ts';
import type { Tx } from '../../src/store/plumbing/database.ts';
import { createTestKey, freshKey } from '../gateway.ts';
import { until } from '../until.ts';
import { DESTINATION, openPayingShop, type PayingShop, SANDBOX, USDC } from './paying-shop.ts';

const THIEF = `${SANDBOX}:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed`;
const NEXT = `${SANDBOX}:0x6813Eb9362372EEF6200f3b1dbC3f819671cBA69`;

const HOUR_MS = 3_600_000;

/** The transaction, in which something happens elsewhere between its reads and its lock of merchants. */
function beforeLockOfMerchants(tx: Tx, happen: () => Promise<unknown>): Tx {
  return new Proxy(tx, {
    apply: (target, self, args) => {
      const run = () => Reflect.apply(target as never, self, args);
      return /^\s*select id from merchants\b/.test(String(args[0]?.[0])) ? happen().then(run) : run();
    },
  });
}

describe('two changes of one row at the same time', () => {
  let paying: PayingShop;
  before(async () => {
    paying = await openPayingShop({ config: { coolingOffHours: 1 } });
  });
  after(() => paying.gateway.stop());

  /** Runs the work while inserts into the table wait. They go on when the work is done. */
  async function whileWaiting(lock: (tx: Tx) => Promise<unknown>, work: () => Promise<void>): Promise<void> {
    await command(paying.gateway, async (tx) => {
      await lock(tx);
      await work();
    });
  }
  /** Waits until that many transactions of this database wait for a lock. */
  const waiting = (count: number) =>
    until(`${count} transactions wait`, async () => {
      const rows = await paying.gateway.db.sql`
        select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and state = 'active'`;
      return rows.length >= count;
    });
  const url = () => `/v1/merchants/${paying.shop.merchant.id}/settlements`;
  const put = (id: string, destination: string) =>
    paying.gateway.call({
      method: 'PUT',
      url: `${url()}/crypto/${id}`,
      headers: paying.shop.headers,
      payload: { destination },
    });
  /** A destination with a change that cools off. */
  async function pending(): Promise<string> {
    const listed = (await paying.gateway.call({ url: url(), headers: paying.shop.headers })).json().crypto;
    const [first] = listed;
    const id =
      first?.id ??
      (
        await paying.gateway.call({
          method: 'POST',
          url: `${url()}/crypto`,
          headers: { ...paying.shop.headers, 'idempotency-key': freshKey() },
          payload: { settlements: [{ asset: USDC, destination: `${SANDBOX}:${DESTINATION}` }] },
        })
      ).json().settlements[0].id;
    const changed = await put(id, THIEF);
    assert.equal(changed.statusCode, 200, changed.body);
    return id;
  }
  const veto = (settlementId: string) =>
    vetoDestination(paying.gateway, { settlementId, reason: 'case 42', actor: 'operator' });
  const history = (tx: Tx) => tx`lock table destination_history in share mode`;

  it('leave a destination sound: a veto that waited for a change sees what the change wrote', async () => {
    const id = await pending();
    let both: Promise<unknown[]> = Promise.resolve([]);
    await whileWaiting(history, async () => {
      const change = put(id, NEXT);
      await waiting(1);
      both = Promise.all([change, veto(id)]);
      await waiting(2);
    });
    const [changed, vetoed] = (await both) as [Awaited<ReturnType<typeof put>>, Awaited<ReturnType<typeof veto>>];
    assert.equal(changed.statusCode, 200, changed.body);
    assert.deepEqual([vetoed.pendingDestination, vetoed.destination], [null, `${SANDBOX}:${DESTINATION}`]);
  });

  it('wait for each other in one order: a change behind a veto is not a deadlock', async () => {
    const id = await pending();
    let both: Promise<unknown[]> = Promise.resolve([]);
    await whileWaiting(history, async () => {
      const vetoed = veto(id);
      await waiting(1);
      both = Promise.all([vetoed, put(id, NEXT)]);
      await waiting(2);
      const [row] = await paying.gateway.db.sql<{ count: number }[]>`
        select count(*)::int as count from pg_locks l
        where l.locktype = 'tuple' and l.relation = 'crypto_settlements'::regclass`;
      assert.equal(row?.count, 0, 'the later one waits for the merchant, not for the destination');
    });
    const [, changed] = (await both) as [unknown, Awaited<ReturnType<typeof put>>];
    assert.equal(changed.statusCode, 200, changed.body);
    assert.equal(changed.json().settlement?.pendingDestination ?? changed.json().pendingDestination, NEXT);
  });

  it('leave a destination as it was if the merchant or its partner is stopped while a change that cooled off is applied', async () => {
    const { gateway, shop } = paying;
    const id = await pending();
    const now = new Date(gateway.world.clock.nowMs() + 2 * HOUR_MS);
    const applied = (stop: () => Promise<unknown>) =>
      command(gateway, async (tx) => {
        const { rows } = await lockCooledOff(beforeLockOfMerchants(tx, stop), { now, after: undefined, limit: 10 });
        return rows.map((row) => row.id);
      });
    const { id: merchantId } = shop.merchant;
    const { id: partnerId } = shop.partner;
    const setStatus = (status: 'active' | 'suspended') =>
      changeMerchant(gateway, { owner: null, actor: 'test', merchantId, changes: { status } });
    const setDisabled = (isDisabled: boolean) =>
      changePartner(gateway, { actor: 'test', partnerId, changes: { isDisabled } });
    assert.deepEqual(await applied(async () => {}), [id]);
    assert.deepEqual(await applied(() => setStatus('suspended')), []);
    await setStatus('active');
    assert.deepEqual(await applied(() => setDisabled(true)), []);
    await setDisabled(false);
    assert.deepEqual(await applied(async () => {}), [id]);
  });

  it('leave one living successor of a key that is rotated twice without an overlap', async () => {
    const { gateway, shop } = paying;
    const { key } = await createTestKey(gateway, shop.partner.id);
    const rotate = () =>
      rotateKey(gateway, { actor: 'test', keyId: key.id, overlapMs: 0, expiresAt: null }).then(
        () => 'rotated',
        ({ code }) => code,
      );
    let both: Promise<string[]> = Promise.resolve([]);
    await whileWaiting(
      (tx) => tx`lock table api_key_ends in share mode`,
      async () => {
        const first = rotate();
        await waiting(1);
        both = Promise.all([first, rotate()]);
        await waiting(2);
      },
    );
    assert.deepEqual(await both, ['rotated', 'invalid_state']);
    const rows = await gateway.db.sql`select from api_keys where rotated_from = ${key.id}`;
    assert.equal(rows.length, 1);
  });
});
