import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { createWorkCheck } from '../../src/actions/oversight/check-work.ts';
import { findMissingNetworks } from '../../src/actions/oversight/missing-networks.ts';
import { pruneOld } from '../../src/actions/oversight/prune.ts';
import { listRelayers } from '../../src/actions/relay/list-relayers.ts';
import { searchUnexpected } from '../../src/actions/watch/deposits/search-unexpected.ts';
import { ACCOUNTS } from '../../src/domain/books.ts';
import { countAccountRest } from '../../src/store/money/account-rest.ts';
import { listBalances } from '../../src/store/money/books.ts';
import { findPaymentSettlement } from '../../src/store/payments/payment-settlements.ts';
import { signerFromKey } from '../chains/signer.ts';
import { coinOf } from '../registry.ts';
import { until } from '../until.ts';
import { type BooksScene, openBooksScene } from './books-scene.ts';
import type { TestNode } from './relay-scene.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const NEW_RELAYER = signerFromKey(`0x${'8'.repeat(64)}`);

describe('relayers that were replaced while a transaction was stored and not mined', () => {
  let scene: BooksScene;
  let old: TestNode;
  beforeEach(async () => {
    scene = await openBooksScene({ witnesses: 2, watching: { sweepFrom: () => 0n } });
    scene.control.setBalance(NEW_RELAYER.address, coinOf(scene.network), 10n ** 21n);
    old = await scene.newNode();
  });
  afterEach(() => scene.close());

  const former = () => scene.signers[0]?.address ?? '';
  const listed = async () =>
    (await listRelayers({ chains: scene.chains, db: scene.db, clock: scene.world.clock })).map(
      ({ address, isFormer, inFlight }) => ({ address, isFormer, inFlight }),
    );
  const goneAlerts = async () => (await scene.alerts()).filter((alert) => alert.startsWith('relayer_gone'));

  /** A payment whose transaction is stored, and was lost on its way. */
  async function stranded() {
    const payment = await scene.accept();
    scene.control.broadcasts('lost');
    await old.relay();
    // Beside transactions in flight, a relayer waits a moment for further items.
    scene.pass(100);
    await old.relay();
    assert.equal((await scene.item(payment.commitment))?.state, 'sent');
    return payment;
  }

  it('have their stored bytes broadcast again, without their key', async () => {
    const { id } = await stranded();
    const node = await scene.newNode([NEW_RELAYER]);
    scene.pass(MINUTE_MS);
    await node.turn(3);
    assert.equal(await scene.status(id), 'succeeded');
    assert.deepEqual(await listed(), [{ address: NEW_RELAYER.address, isFormer: false, inFlight: 0 }]);
  });

  it('delay no round of a watcher, however slowly an endpoint takes their bytes', async () => {
    const payments = [await stranded(), await stranded(), await stranded()];
    const node = await scene.newNode([NEW_RELAYER]);
    const answer = Promise.withResolvers<void>();
    let broadcasts = 0;
    scene.control.intercept((method) => {
      if (method !== 'broadcast') return;
      broadcasts += 1;
      return answer.promise;
    });
    scene.pass(MINUTE_MS);
    let isOver = false;
    const round = node.watch().then(() => {
      isOver = true;
    });
    try {
      await until('the round is over', () => isOver);
    } finally {
      answer.resolve();
      await round;
    }
    assert.equal(broadcasts, 3);
    scene.control.intercept(undefined);
    await node.turn(3);
    for (const { id } of payments) assert.equal(await scene.status(id), 'succeeded');
  });

  it('have their payments sent by others when their transaction cannot be mined, and are listed, with an alert', async () => {
    const { id, item } = await stranded();
    scene.control.setBalance(former(), coinOf(scene.network), 0n);
    const node = await scene.newNode([NEW_RELAYER]);
    const check = createWorkCheck(scene);
    await check();
    assert.deepEqual(await goneAlerts(), [`relayer_gone ${scene.network}:${former()}`]);
    scene.pass(MINUTE_MS);
    await node.turn(2);
    assert.equal(await scene.status(id), 'processing', 'it may still be mined');
    scene.pass(3 * MINUTE_MS);
    await node.turn(2);
    assert.equal(await scene.status(id), 'succeeded');
    assert.equal(scene.control.balanceOf(item.recipient, item.asset), item.amount - item.fee, 'paid once');
    assert.deepEqual(await listed(), [
      { address: NEW_RELAYER.address, isFormer: false, inFlight: 0 },
      { address: former(), isFormer: true, inFlight: 1 },
    ]);
    await check();
    assert.deepEqual(await goneAlerts(), [], 'nothing waits for it any more');
  });

  it('have their sweeps sent by others: the merchant is paid, and a search finds nothing', async () => {
    const { id, address, item, send } = await scene.deposit();
    send(1_000n);
    scene.control.mine();
    await old.watch();
    assert.equal(await scene.status(id), 'succeeded');
    const sweep = async () => {
      const [row] = await scene.db.sql<{ state: string }[]>`
        select state from items where subject = ${id} and purpose = 'sweep'`;
      return row?.state;
    };
    scene.control.broadcasts('lost');
    await old.relay();
    assert.equal(await sweep(), 'sent');
    scene.control.setBalance(former(), coinOf(scene.network), 0n);
    const node = await scene.newNode([NEW_RELAYER]);
    await createWorkCheck(scene)();
    assert.match((await scene.alertText('relayer_gone')) ?? '', /sweeps are in transactions of it/);
    scene.pass(MINUTE_MS);
    await node.turn(2);
    assert.equal(await sweep(), 'sent', 'it may still be mined');
    const search = () =>
      searchUnexpected(
        { ...scene, sweepFrom: () => 0n },
        { paymentId: id, network: undefined, isSweep: true, actor: 'operator' },
      );
    assert.equal((await search()).found.length, 1);
    scene.pass(3 * MINUTE_MS);
    await node.turn(4);
    assert.equal(await sweep(), 'paid');
    assert.deepEqual(
      [address, item.recipient, item.feeAccount].map((account) => scene.control.balanceOf(account, item.asset)),
      [0n, 990n, 10n],
    );
    assert.equal((await findPaymentSettlement(scene.db.sql, id))?.amount, '990');
    assert.deepEqual((await search()).found, []);
    await createWorkCheck(scene)();
    assert.deepEqual(await goneAlerts(), []);
    assert.deepEqual(await scene.differences(), []);
  });

  describe('and whose transaction can never be mined', () => {
    /** The payment was paid by others, and the transaction of the former relayer is left over. */
    async function leftOver() {
      const payment = await stranded();
      scene.control.setBalance(former(), coinOf(scene.network), 0n);
      const node = await scene.newNode([NEW_RELAYER]);
      scene.pass(4 * MINUTE_MS);
      await node.turn(3);
      assert.equal(await scene.status(payment.id), 'succeeded');
      return { ...payment, node };
    }
    const formerListed = async () => (await listed()).filter(({ isFormer }) => isFormer);
    const rest = () =>
      countAccountRest(scene.db.sql, { network: scene.network, address: former(), now: new Date(scene.nowMs()) });
    const missing = () => findMissingNetworks(scene.db.sql, scene.registry, { find: () => undefined, list: () => [] });
    const gas = async () =>
      (await listBalances(scene.db.sql, scene.network)).find(({ account }) => account === ACCOUNTS.gas(former()))
        ?.units;
    const sends = () =>
      scene.db.sql<{ state: string; hash: string | null }[]>`
        select state, final_hash as hash from relay_sends where signer = ${former()} order by slot`;
    /** Somebody has kept the bytes and broadcasts them after the account has got coin. */
    async function mineLate() {
      scene.control.setBalance(former(), coinOf(scene.network), 10n ** 21n);
      const [row] = await scene.db.sql<{ bytes: string }[]>`
        select bytes from relay_versions where signer = ${former()} order by price desc limit 1`;
      await scene.chain.sender.broadcast(row?.bytes ?? '', { isRepeated: true });
      scene.control.mine();
    }

    it('are given up a week after nothing needs them any more, and hold up no account and no network', async () => {
      const { node } = await leftOver();
      scene.pass(6 * DAY_MS);
      await node.turn(2);
      assert.equal((await formerListed()).length, 1, 'it may still be mined');
      assert.equal((await rest()).sends, 1);
      scene.pass(DAY_MS);
      await node.turn(2);
      assert.deepEqual([await formerListed(), (await rest()).sends, await missing()], [[], 0, []]);
    });

    it('are given up by two endpoints, whatever one says of their nonce', async () => {
      const { node } = await leftOver();
      scene.pass(8 * DAY_MS);
      scene.control.goDown('usedSlots');
      await node.turn(2).catch(() => {});
      assert.equal((await formerListed()).length, 1, 'nobody knows');
      scene.control.comeBack();
      scene.control.testify(0, { addsToNonces: 300 });
      scene.pass(MINUTE_MS);
      await node.turn(2);
      assert.deepEqual(await formerListed(), []);
      scene.pass(2 * MINUTE_MS);
      await node.turn(2);
      assert.deepEqual(await formerListed(), [], 'one endpoint opens nothing again');
    });

    it('are not given up while one of their payments is not over', async () => {
      const { node, commitment } = await leftOver();
      await command(scene, (tx) => tx`update items set state = 'sent' where commitment = ${commitment}`);
      scene.pass(8 * DAY_MS);
      await command(scene, (tx) => tx`update relay_sends set created_at = ${new Date(scene.nowMs() - 8 * DAY_MS)}`);
      await node.turn(1);
      assert.equal((await formerListed()).length, 1);
    });

    it('are booked if they are mined after they were given up', async () => {
      const { node, item } = await leftOver();
      scene.pass(8 * DAY_MS);
      await node.turn(2);
      assert.deepEqual(
        (await sends()).map(({ state }) => state),
        ['final'],
      );
      const before = await gas();
      await mineLate();
      scene.pass(2 * MINUTE_MS);
      await node.turn(4);
      const [send] = await sends();
      assert.equal(send?.state, 'final');
      assert.notEqual(send?.hash, null);
      assert.notEqual(await gas(), before, 'its gas');
      assert.equal(scene.control.balanceOf(item.recipient, item.asset), item.amount - item.fee, 'paid once');
      assert.deepEqual(await formerListed(), []);
      assert.deepEqual(await scene.differences(), []);
    });

    it('go on if their key comes back after old rows were pruned', async () => {
      const { node } = await leftOver();
      scene.pass(40 * DAY_MS);
      await node.turn(2);
      await pruneOld(scene, { before: new Date(scene.nowMs() - 30 * DAY_MS), actor: 'operator' });
      const [version] = await scene.db.sql<{ bytes: string }[]>`
        select bytes from relay_versions where signer = ${former()}`;
      assert.notEqual(version?.bytes, '', 'no block has used the slot');
      await comesBack();
    });

    it('go on if their key comes back and nobody has the signed bytes any more', async () => {
      const { node } = await leftOver();
      scene.pass(8 * DAY_MS);
      await node.turn(2);
      await scene.tamper(`update relay_versions set bytes = '' where signer = '${former()}'`);
      await comesBack();
    });

    it('go on if their key comes back, nobody has the signed bytes any more, and they offered ten times the price of today', async () => {
      const { node } = await leftOver();
      scene.pass(8 * DAY_MS);
      await node.turn(2);
      await scene.tamper(`update relay_versions set bytes = '', price = price * 10 where signer = '${former()}'`);
      await comesBack();
    });

    it('go on if their key comes back', async () => {
      const { node } = await leftOver();
      scene.pass(8 * DAY_MS);
      await node.turn(2);
      await comesBack();
    });

    async function comesBack() {
      scene.control.setBalance(former(), coinOf(scene.network), 10n ** 21n);
      const back = await scene.newNode(scene.signers);
      const { id } = await scene.accept();
      await back.turn(4);
      assert.equal(await scene.status(id), 'succeeded');
      assert.deepEqual(
        (await sends()).map(({ state, hash }) => [state, hash !== null]),
        [
          ['final', true],
          ['final', true],
        ],
      );
    }
  });
});
