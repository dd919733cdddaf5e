import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { recordCoin } from '../../src/actions/books/audit/record-coin.ts';
import { type RebuildInput, rebuild } from '../../src/actions/books/restore/rebuild.ts';
import { command } from '../../src/actions/command.ts';
import { addFloat } from '../../src/actions/outgoing/float/add-float.ts';
import { requestReturn } from '../../src/actions/outgoing/return/request-return.ts';
import { freeze } from '../../src/actions/parties/freeze.ts';
import { expirePayments } from '../../src/actions/paying/expire-payments.ts';
import { searchUnexpected } from '../../src/actions/watch/deposits/search-unexpected.ts';
import { ACCOUNTS, OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { listUnexpected } from '../../src/store/money/unexpected-money.ts';
import { listFreezes } from '../../src/store/parties/freezes.ts';
import { takeLease } from '../../src/store/plumbing/leases.ts';
import { copyDatabase } from '../database-copy.ts';
import { BASE_SEPOLIA, BASE_SEPOLIA_USDC } from './paying-shop.ts';
import { COIN, DOLLAR, openRefundScene, type RefundScene } from './refund-scene.ts';
import type { TestNode } from './relay-scene.ts';

const DAY_MS = 86_400_000;

describe('a database restored from an older copy', () => {
  let scene: RefundScene;
  let node: TestNode;
  afterEach(() => scene.close());

  const relayer = () => scene.signers[0]?.address ?? '';
  const gas = async () => (await scene.books(COIN))[ACCOUNTS.gas(relayer())];
  /** The auditor's work on coin. */
  async function recordCoinOnce() {
    const ask = { name: 'audit', holder: 'test', now: new Date(Date.UTC(2100, 0, 1)), until: new Date(scene.nowMs()) };
    const lease = await command(scene, (tx) => takeLease(tx, ask));
    assert.ok(lease);
    await recordCoin({ ...scene, holder: 'test' }, { connected: scene.connected, lease });
  }
  /** A transaction of the relayer that pays nothing: its token is paused by the time it is mined. */
  async function sendInVain() {
    await scene.accept();
    await node.relay();
    scene.control.setPaused(DOLLAR);
    scene.control.mine();
    await node.watch();
    scene.control.setPaused(DOLLAR, false);
  }
  /** A payment at a deposit address, whose sweep is the relayer's only transaction. */
  async function sweepOnce() {
    const { id, item, send } = await scene.deposit();
    send(item.amount);
    await node.turn(4);
    assert.equal(await scene.status(id), 'succeeded');
  }
  /** Everything that was accepted is paid. */
  async function settleAll() {
    scene.pass(600_000);
    await node.turn(4);
  }

  /** A gateway at work whose database is set back to a copy; the chain goes on. */
  async function openRestored(lost: () => Promise<unknown>) {
    scene = await openRefundScene();
    node = await scene.newNode();
    await node.turn();
    await recordCoinOnce();
    await scene.paid(node);
    const copy = await copyDatabase(scene.db);
    const { number: from } = await scene.chain.reader.head();
    await lost();
    await node.turn(2);
    await recordCoinOnce();
    assert.deepEqual(await scene.differences(), []);
    const [spent, books, sent] = [await gas(), await scene.books(COIN), (await scene.versions()).length];
    await copy.restore();
    const sends = sent - (await scene.versions()).length;
    node = await scene.newNode();
    await node.watch();
    assert.notEqual(await gas(), spent);
    const restore = (input: Partial<RebuildInput> = {}) =>
      rebuild(scene, scene.connected, { from, merchantId: scene.merchantId, ...input });
    return { from, sends, spent, books, restore };
  }

  it('has the gas of its relayers again after a rebuild, and agrees with the chain', async () => {
    const { spent, restore } = await openRestored(async () => {
      for (let count = 0; count < 3; count += 1) await scene.paid(node);
    });
    assert.match((await scene.differences())?.join() ?? '', /ETH on Till Sandbox less than the books say/);
    const report = await restore();
    assert.equal(report?.gas.length, 3);
    assert.equal(await gas(), spent);
    assert.deepEqual(report.unplaced, []);
    assert.deepEqual(await scene.differences(), []);
    assert.deepEqual((await restore())?.gas, [], 'a second time nothing is missing');
  });

  it('finds transactions without events by the missing nonces', async () => {
    const { sends, spent, restore } = await openRestored(async () => {
      await sendInVain();
      await settleAll();
      await sendInVain();
      await sendInVain();
      await settleAll();
      await sendInVain();
    });
    assert.ok(sends >= 6);
    const report = await restore();
    assert.equal(report?.gas.length, sends);
    assert.equal(await gas(), spent);
    assert.deepEqual(await scene.differences(), []);
    scene.control.goDown('sentTransactions');
    assert.deepEqual((await restore())?.gas, [], 'a second rebuild reads no block');
  });

  for (const [what, lose] of [
    ['a sweep', sweepOnce],
    ['a batch that paid nothing', sendInVain],
  ] as const) {
    it(`has the gas of the first transaction that its relayer ever sent: ${what}`, async () => {
      scene = await openRefundScene();
      node = await scene.newNode();
      await node.turn();
      await recordCoinOnce();
      const copy = await copyDatabase(scene.db);
      const { number: from } = await scene.chain.reader.head();
      await lose();
      await node.turn(2);
      await copy.restore();
      node = await scene.newNode();
      await node.turn(2);
      assert.match((await scene.differences())?.join() ?? '', /ETH on Till Sandbox less than the books say/);
      const report = await rebuild(scene, scene.connected, { from, merchantId: scene.merchantId });
      assert.deepEqual([report?.gas.length, report?.unplaced], [1, []]);
      await node.turn(2);
      assert.deepEqual(await scene.differences(), []);
    });
  }

  it('continues sending, and a later rebuild still finds the lost transactions', async () => {
    const { sends, restore } = await openRestored(async () => {
      await scene.paid(node);
      await sendInVain();
    });
    await scene.paid(node);
    const report = await restore();
    assert.equal(report?.gas.length, sends);
    assert.deepEqual(await scene.differences(), []);
  });

  it('reports that missing transactions are in other blocks', async () => {
    const { from, restore } = await openRestored(async () => {
      await sendInVain();
      scene.pass(3_600_000);
      await node.turn(4);
      await scene.paid(node);
    });
    const late = await restore({ from: from + 3 });
    assert.deepEqual(late?.unplaced, [
      { id: relayer(), problem: 'sent 1 transaction whose gas is not in the books, in other blocks than these' },
    ]);
    assert.deepEqual((await restore())?.unplaced, []);
    assert.deepEqual(await scene.differences(), []);
  });

  it('ends no payment by the clock before a rebuild has brought back how it was paid', async () => {
    scene = await openRefundScene();
    node = await scene.newNode();
    await node.turn();
    const [paid, unpaid] = [await scene.payers.payable('eip3009-vrs'), await scene.payers.payable('eip3009-vrs')];
    const [paidId, unpaidId] = [paid.item.subject, unpaid.item.subject];
    for (const id of [paidId, unpaidId]) await scene.newPayment(id);
    const copy = await copyDatabase(scene.db);
    const { number: from } = await scene.chain.reader.head();
    await scene.accept({ terms: { subject: paidId } });
    await node.turn(2);
    assert.equal(await scene.status(paidId), 'succeeded');
    await copy.restore();
    const restored = { scope: 'restored', subject: scene.network } as const;
    await freeze(scene, { ...restored, reason: 'a restore', actor: 'operator' });
    scene.pass(DAY_MS);
    await expirePayments(scene);
    assert.equal(await scene.status(paidId), 'requires_action');
    node = await scene.newNode();
    await node.turn(2);
    await rebuild(scene, scene.connected, { from, merchantId: scene.merchantId });
    assert.deepEqual(await listFreezes(scene.db.sql), []);
    await expirePayments(scene);
    assert.deepEqual([await scene.status(paidId), await scene.status(unpaidId)], ['succeeded', 'expired']);
    assert.deepEqual(await scene.differences(), []);
  });

  /** The ways in which held money comes to our account. */
  const HELD = {
    'held money': async () => (await scene.paid(node, { isHeld: true })).id,
    'held money of a deposit address, swept by us,': async () => {
      const { id, send } = await scene.deposit({ isHeld: true });
      send(1_000n);
      await scene.live(node, 2);
      return id;
    },
    'held money of a deposit address, swept by a stranger,': async () => {
      const { id, item, send } = await scene.deposit({ isHeld: true });
      send(1_000n);
      scene.control.mine();
      scene.control.relayAsStranger([{ item, commitment: '', signature: '0x', hasCode: false }]);
      return id;
    },
  };
  for (const [way, hold] of Object.entries(HELD)) {
    it(`does not take ${way} that it has forgotten for money of nobody`, async () => {
      scene = await openRefundScene({ watching: { sweepFrom: () => 0n } });
      node = await scene.newNode();
      await scene.live(node, 2);
      const copy = await copyDatabase(scene.db);
      const { number: from } = await scene.chain.reader.head();
      const id = await hold();
      await scene.live(node, 3);
      const books = await scene.books();
      assert.equal(books[ACCOUNTS.payable(scene.merchantId)], 990n);
      await copy.restore();
      await freeze(scene, { scope: 'restored', subject: scene.network, reason: 'a restore', actor: 'operator' });
      node = await scene.newNode();
      await scene.live(node, 4);
      for (const _ of ['once', 'again']) {
        await rebuild(scene, scene.connected, { from, merchantId: scene.merchantId });
        await scene.live(node, 4);
      }
      assert.equal(await scene.status(id), 'succeeded');
      assert.deepEqual(await listUnexpected(scene.db.sql, { states: ['unclaimed'], limit: 10 }), []);
      assert.deepEqual(await scene.books(), books);
      assert.deepEqual(await scene.differences(), []);
    });
  }

  for (const isAuditedFirst of [false, true]) {
    const order = isAuditedFirst ? 'after' : 'before';
    it(`distinguishes received coin from spent gas of a relayer, with a rebuild ${order} an audit`, () =>
      distinguishesCoinFromGas(isAuditedFirst));
  }

  async function distinguishesCoinFromGas(isAuditedFirst: boolean) {
    const { books, restore } = await openRestored(async () => {
      await scene.paid(node);
      scene.sendCoin(10n ** 17n, { to: relayer() });
      await scene.paid(node);
    });
    if (isAuditedFirst) await recordCoinOnce();
    await restore();
    await recordCoinOnce();
    const [unexpected, ...more] = await listUnexpected(scene.db.sql, { states: ['unclaimed'], limit: 10 });
    assert.deepEqual([unexpected?.amount, unexpected?.account, more.length], [(10n ** 17n).toString(), relayer(), 0]);
    assert.deepEqual(await scene.books(COIN), books);
    assert.deepEqual(await scene.differences(), []);
  }

  it('credits a float again that came since the backup, though the backup is from before the first search for unexpected money', async () => {
    scene = await openRefundScene();
    // No payment, and no money of ours, is in these blocks.
    scene.control.mine(40);
    node = await scene.newNode();
    await node.watch();
    const copy = await copyDatabase(scene.db);
    const { number: from } = await scene.chain.reader.head();
    const owner = OPERATOR_FLOAT;
    const transactionHash = scene.transfer({ from: scene.payers.newAccount(), units: 25n });
    await node.turn(2);
    const credit = () => addFloat(scene, { owner, asset: DOLLAR, transactionHash, actor: 'test' });
    assert.equal(await credit(), 25n);
    const { id } = await scene.paid(node, { isHeld: true });
    await scene.request(id);
    await scene.live(node);
    assert.equal((await scene.refund(id)).state, 'refunded');
    const floats = await scene.floats();

    await copy.restore();
    node = await scene.newNode();
    await node.turn(2);
    await scene.live(node);
    assert.equal(await credit(), 25n, 'the refund that has left since is no reason to refuse');
    const report = await rebuild(scene, scene.connected, { from, merchantId: scene.merchantId });
    assert.deepEqual(report?.unplaced, []);
    await scene.live(node);
    assert.deepEqual(await scene.floats(), floats);
    assert.deepEqual(await scene.differences(), []);
  });

  describe('knows money of another network', () => {
    let there: RefundScene;
    afterEach(() => there.close());

    /** Money that a search finds on another network, where it has arrived before the copy of the database. */
    async function found() {
      const watching = { sweepFrom: () => 0n };
      scene = await openRefundScene({ watching });
      there = await openRefundScene({ watching, beside: { ...scene, network: BASE_SEPOLIA } });
      const [other, { id, address }] = [await scene.deposit(), await scene.deposit({ isHeld: true })];
      const here = await scene.newNode();
      await here.turn(2);
      scene.pass(16 * 60_000);
      await here.turn(3);
      assert.equal(await scene.status(id), 'expired');
      const [payer, asset] = [there.payers.newAccount(), BASE_SEPOLIA_USDC];
      const search = (paymentId: string) =>
        searchUnexpected(
          { ...there, sweepFrom: () => 0n },
          { paymentId, network: undefined, isSweep: true, actor: 'operator' },
        );
      node = await there.newNode();
      await there.live(node, 2);
      // From now on the watcher reads the transfers to another address there.
      there.transfer({ from: payer, to: other.address, asset, units: 1_000n });
      await search(other.id);
      const transactionHash = there.transfer({ from: payer, asset, units: 1_000_000n });
      there.transfer({ from: payer, to: address, asset, units: 20_000_000n });
      await there.live(node, 3);
      await addFloat(there, { owner: OPERATOR_FLOAT, asset, transactionHash, actor: 'test' });
      const copy = await copyDatabase(scene.db);
      const { number: from } = await there.chain.reader.head();
      await search(id);
      await there.live(node, 5);
      const restore = async () => {
        await copy.restore();
        await freeze(there, { scope: 'restored', subject: there.network, reason: 'a restore', actor: 'operator' });
        node = await there.newNode();
        await there.live(node, 4);
        const report = await rebuild(there, there.connected, { from, merchantId: there.merchantId });
        assert.deepEqual(report?.unplaced, []);
        await there.live(node, 4);
        assert.deepEqual(await listFreezes(scene.db.sql), []);
      };
      const known = async () => ({
        late: [...(await scene.db.sql`select id, lot_id, state, amount::text from strays where payment_id = ${id}`)],
        books: await there.books(BASE_SEPOLIA_USDC),
      });
      return { restore, known };
    }

    it('that was paid out, and does not pay it out twice', async () => {
      const { restore, known } = await found();
      const account = there.payers.newAccount();
      await there.register(account, BASE_SEPOLIA_USDC);
      await there.live(node, 6);
      assert.equal(there.control.balanceOf(account, BASE_SEPOLIA_USDC), 19_800_000n);
      const before = await known();
      await restore();
      assert.deepEqual(await known(), before);
      await there.register(account, BASE_SEPOLIA_USDC);
      await there.live(node, 6);
      assert.equal(there.control.balanceOf(account, BASE_SEPOLIA_USDC), 19_800_000n);
      assert.deepEqual(await there.differences(), []);
    });

    it('by its id of before, and does not return it twice', async () => {
      const { restore, known } = await found();
      const [late] = (await known()).late;
      const friend = there.payers.newAccount();
      const { network: chainId, merchantId } = there;
      const destination = { chainId, namespace: 'eip155', address: friend, id: `${chainId}:${friend}` } as const;
      const ask = { id: String(late?.id), merchantId, destination, actor: 'key:test', coolingOffMs: 0 };
      await requestReturn(there, ask, undefined, () => ({ status: 200, body: null }));
      await there.live(node, 6);
      const before = await known();
      assert.deepEqual(
        before.late.map(({ state }) => state),
        ['returned'],
      );
      await restore();
      assert.deepEqual(await known(), before);
      assert.equal(there.control.balanceOf(friend, BASE_SEPOLIA_USDC), 20_000_000n);
      assert.deepEqual(await there.differences(), []);
    });
  });
});
