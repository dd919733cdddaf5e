import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { ACCOUNTS } from '../../src/domain/books.ts';
import { findDepositProgress, isPaidInto, sumCounting } from '../../src/store/chain/deposit-progress.ts';
import { findDeposit } from '../../src/store/chain/deposits.ts';
import { listEvents } from '../../src/store/events/events.ts';
import { SANDBOX_ASSETS } from '../chains/sandbox-assets.ts';
import { IS_LONG } from '../long.ts';
import { type BooksScene, openBooksScene } from './books-scene.ts';
import type { SceneInput } from './relay-scene.ts';

const USDC = SANDBOX_ASSETS['eip3009-vrs'];
const SETTLED = ACCOUNTS.settled('mrch_test');
const MINUTE_MS = 60_000;
/** Blocks with so many transfers to each of two addresses. */
const BLOCKS = IS_LONG ? 50 : 10;
const EACH = BLOCKS * 2;

describe('a deposit address that gets what it did not ask for', () => {
  let scene: BooksScene;
  const open = async (input: SceneInput = {}) => {
    scene = await openBooksScene({ watching: { sweepFrom: () => 0n }, ...input });
    return scene;
  };
  afterEach(() => scene.close());

  const late = async (id: string) =>
    (await listEvents(scene.db.sql, id)).filter(({ type }) => type === 'payment.late_money');

  async function isReconciled() {
    assert.deepEqual(await scene.differences(), []);
    await scene.seal();
    assert.deepEqual(await scene.problems(), []);
  }

  it('is not paid by a token that keeps a part of each transfer, until the whole amount is there', async () => {
    await open();
    const { id, item, send } = await scene.deposit({ lifeMs: 5 * MINUTE_MS });
    const node = await scene.newNode();
    scene.control.setCut(USDC, 100n);
    send(1_000n);
    await node.turn(3);
    // The log says 1,000, and 900 are there.
    assert.equal(await scene.status(id), 'processing');
    assert.deepEqual(await scene.balances(USDC), { payer: -900n, deposits: 900n });
    send(200n);
    await node.turn(2);
    assert.equal(await scene.status(id), 'succeeded');
    await node.turn(3);
    // The recipient gets less than was swept. The books follow the sweep, as the contract reports it.
    assert.equal(scene.control.balanceOf(item.recipient, USDC), 890n);
    await isReconciled();
  });

  it('does not count money that has left it without a sweep', async () => {
    await open();
    const { id, address, item, send } = await scene.deposit();
    const node = await scene.newNode();
    const { network, commitment, asset } =
      (await findDeposit(scene.db.sql, { paymentId: id, asset: USDC })) ?? assert.fail();
    const ask = { network, commitment, asset, deadline: new Date(item.deadlineS * 1_000) };
    send(600n);
    await node.turn(2);
    // The issuer of the token takes a part away.
    scene.control.setBalance(address, USDC, 100n);
    for (const units of [1n, 1n]) {
      send(units);
      await node.turn(2);
    }
    assert.equal((await findDepositProgress(scene.db.sql, { ...ask, asked: '1000' })).arrived, 102n);
    assert.equal(await sumCounting(scene.db.sql, ask), 102n);
    assert.equal(await isPaidInto(scene.db.sql, id), false);
    assert.equal(await scene.status(id), 'requires_action');
    send(397n);
    await node.turn(2);
    assert.equal(await isPaidInto(scene.db.sql, id), false, 'its logs show 999');
    send(1n);
    await node.turn(2);
    assert.equal(await isPaidInto(scene.db.sql, id), false, 'its logs show 1,000, and 500 are there');
    assert.equal(await scene.status(id), 'requires_action');
    send(500n);
    await node.turn(3);
    assert.equal(await scene.status(id), 'succeeded');
  });

  /** The issuer of the token takes money away, after it has paid and before its sweep. */
  async function losesAllBut(left: bigint) {
    await open();
    const { id, address, item, send } = await scene.deposit();
    const node = await scene.newNode();
    send(1_000n);
    for (let turn = 0; (await scene.status(id)) !== 'succeeded'; turn += 1) {
      assert.ok(turn < 5, 'the payment succeeds');
      await node.watch();
      scene.control.mine(1);
    }
    assert.equal(scene.control.balanceOf(address, USDC), 1_000n, 'it is not swept yet');
    scene.control.setBalance(address, USDC, left);
    for (let turn = 0; turn < 12; turn += 1) {
      await node.turn();
      scene.pass(MINUTE_MS);
    }
    assert.equal(scene.control.balanceOf(address, USDC), 0n);
    const orders = await scene.db.sql`
      select state from items where subject = ${id} and purpose = 'sweep' and state in ('due', 'sent')`;
    assert.equal(orders.length, 0, 'no sweep is tried for ever');
    const net = scene.control.balanceOf(item.recipient, USDC);
    assert.deepEqual(await scene.balances(USDC), left === 0n ? {} : { payer: -300n, fees: 300n - net, [SETTLED]: net });
    assert.equal(await scene.status(id), 'succeeded');
    assert.deepEqual(await scene.differences(), []);
    const alerts = await scene.alerts();
    assert.ok(alerts.includes(`deposit_differs ${scene.network}:${address}`), alerts.join());
  }

  it('loses all of the money that paid before its sweep: the order ends, and the books say what is there', () =>
    losesAllBut(0n));

  it('loses a part of the money that paid before its sweep: the rest is swept', () => losesAllBut(300n));

  it('of such a token expires when the rest never comes', async () => {
    await open();
    const { id, send } = await scene.deposit({ lifeMs: 5 * MINUTE_MS });
    const node = await scene.newNode();
    scene.control.setCut(USDC, 1n);
    send(1_000n);
    await node.turn(2);
    assert.equal(await scene.status(id), 'processing');
    scene.pass(16 * MINUTE_MS);
    await node.turn(5);
    assert.equal(await scene.status(id), 'expired');
    assert.equal((await late(id)).length, 1);
    await isReconciled();
  });

  it('follows a token whose balances change by themselves, down and up', async () => {
    await open({ depth: 3 });
    const { id, address, send } = await scene.deposit();
    const node = await scene.newNode();
    send(1_000n);
    await node.turn();
    scene.control.setBalance(address, USDC, 400n);
    await node.turn(4);
    assert.equal(await scene.status(id), 'processing');
    assert.deepEqual(await scene.balances(USDC), { payer: -400n, deposits: 400n });
    await isReconciled();
    scene.control.setBalance(address, USDC, 900n);
    await node.turn(4);
    // Nothing shows the change but a comparison.
    assert.equal((await scene.differences()).length, 1);
    send(100n);
    await node.turn(8);
    assert.equal(await scene.status(id), 'succeeded');
    assert.deepEqual(await scene.balances(USDC), { payer: -1_000n, fees: 10n, [SETTLED]: 990n });
    await isReconciled();
  });

  it('counts every transfer of thirty in a block, although the balance is more than their sum', async () => {
    await open();
    const { id, address, send } = await scene.deposit({ amount: 3_050n });
    const node = await scene.newNode();
    scene.control.setBalance(address, USDC, 50n);
    for (let count = 0; count < 30; count += 1) send(100n);
    await node.turn(4);
    assert.equal(await scene.status(id), 'succeeded');
    await node.turn(2);
    await isReconciled();
  });

  it('is paid by sixty transfers that were read after its deadline, although the balance is more than their sum', async () => {
    await open();
    const { id, address, send } = await scene.deposit({ amount: 6_050n });
    const node = await scene.newNode();
    await node.turn();
    scene.control.setBalance(address, USDC, 50n);
    for (let count = 0; count < 60; count += 1) send(100n);
    scene.control.mine();
    scene.pass(16 * MINUTE_MS);
    await node.turn(8);
    assert.equal(await scene.status(id), 'succeeded');
    await isReconciled();
  });

  it('takes transfers of nothing for nothing', async () => {
    await open();
    const { id, send } = await scene.deposit();
    const node = await scene.newNode();
    send(0n);
    await node.turn(2);
    assert.equal(await scene.status(id), 'requires_action');
    assert.deepEqual(await scene.db.sql`select from movements`, []);
    send(1_000n);
    send(0n);
    await node.turn(4);
    assert.equal(await scene.status(id), 'succeeded');
    await isReconciled();
  });

  it(`costs little work and few events for ${2 * BLOCKS * EACH} transfers of a single unit`, async () => {
    await open({ watching: {} });
    const over = await scene.deposit({ lifeMs: 5 * MINUTE_MS });
    const node = await scene.newNode();
    scene.pass(16 * MINUTE_MS);
    await node.turn(2);
    assert.equal(await scene.status(over.id), 'expired');
    // More than all the dust.
    const before = await scene.deposit({ amount: 1_000_000n });
    const calls = new Map<string, number>();
    scene.control.intercept((method) => void calls.set(method, (calls.get(method) ?? 0) + 1));
    for (let block = 0; block < BLOCKS; block += 1) {
      for (let count = 0; count < EACH; count += 1) {
        before.send(1n);
        over.send(1n);
      }
      await node.turn();
    }
    await node.turn(2);
    scene.control.intercept(undefined);
    assert.deepEqual(await scene.db.sql`select from relay_sends`, [], 'no gas is spent');
    const [{ count } = { count: 0 }] = await scene.db.sql<{ count: number }[]>`
      select count(*)::int as count from movements`;
    assert.equal(count, 2 * BLOCKS * EACH);
    // Of the money that came too late the partner hears each time it has doubled.
    const named = await late(over.id);
    assert.ok(named.length >= 1 && named.length <= 7, `${named.length} events`);
    assert.ok((calls.get('incoming') ?? 0) <= 3 * (BLOCKS + 2), JSON.stringify([...calls]));
    await isReconciled();
  });

  it('names the sender of the transfer that made it enough as the payer, whoever adds dust', async () => {
    await open({ depth: 2 });
    const { id, send, sender } = await scene.deposit();
    const node = await scene.newNode();
    const stranger = scene.payers.newAccount();
    for (let count = 0; count < 60; count += 1) send(1n, { from: stranger });
    await node.turn();
    const paid = send(1_000n);
    await node.turn();
    for (let count = 0; count < 60; count += 1) send(1n, { from: stranger });
    await node.turn(3);
    const { status, buyerAccount, transactionHash } = await scene.payment(id);
    assert.deepEqual([status, buyerAccount, transactionHash], ['succeeded', `${scene.network}:${sender}`, paid]);
    await node.turn(3);
    await isReconciled();
  });

  it('of a payment that was cancelled, refused, or whose merchant is deleted sends the money on and names it', async () => {
    await open();
    const [cancelled, failed, orphan] = [await scene.deposit(), await scene.deposit(), await scene.deposit()];
    const node = await scene.newNode();
    const move = { actor: 'test', evidence: {} };
    await scene.movePayment({ ...move, paymentId: cancelled.id, event: { type: 'cancelled', by: 'merchant' } });
    await scene.movePayment({ ...move, paymentId: failed.id, event: { type: 'failed', failureCode: null } });
    await command(scene, (tx, now) => tx`update merchants set deleted_at = ${now} where id = 'mrch_test'`);
    for (const { send } of [cancelled, failed, orphan]) send(1_000n);
    await node.turn(5);
    for (const { item } of [cancelled, failed, orphan]) {
      assert.equal(scene.control.balanceOf(item.recipient, USDC), 990n);
    }
    assert.deepEqual([await scene.status(cancelled.id), await scene.status(failed.id)], ['cancelled', 'failed']);
    // A payment made before stays payable to its end.
    assert.equal(await scene.status(orphan.id), 'succeeded');
    for (const { id } of [cancelled, failed]) {
      assert.partialDeepStrictEqual((await late(id))[0]?.data.lateMoney, {
        reason: 'late',
        asset: USDC,
        amount: '1000',
      });
    }
    await isReconciled();
  });

  it('is not swept while its merchant is suspended, and is swept afterwards', async () => {
    await open();
    const { id, address, item, send } = await scene.deposit();
    const node = await scene.newNode();
    const set = (status: string) =>
      command(scene, (tx) => tx`update merchants set status = ${status} where id = 'mrch_test'`);
    await set('suspended');
    send(1_000n);
    send(300n, { token: SANDBOX_ASSETS.permit2 });
    await node.turn(5);
    assert.equal(scene.control.balanceOf(address, USDC), 1_000n);
    assert.equal(scene.control.balanceOf(address, SANDBOX_ASSETS.permit2), 300n);
    assert.equal(await scene.status(id), 'succeeded');
    await isReconciled();
    await set('active');
    scene.pass(MINUTE_MS);
    await node.turn(4);
    assert.equal(scene.control.balanceOf(item.recipient, USDC), 990n);
    assert.equal(scene.control.balanceOf(item.recipient, SANDBOX_ASSETS.permit2), 297n);
    await isReconciled();
  });

  it('in the block of its sweep is swept with the rest, or by the next sweep', async () => {
    for (const order of ['before', 'after'] as const) {
      await open();
      const { id, item, address, send } = await scene.deposit();
      const node = await scene.newNode();
      send(1_000n);
      await node.turn(1);
      if (order === 'before') send(70n);
      await node.relay();
      if (order === 'after') send(70n);
      scene.control.mine();
      await node.watch();
      await node.turn(5);
      assert.equal(await scene.status(id), 'succeeded');
      assert.equal(scene.control.balanceOf(address, USDC), 0n);
      // Parts of a unit of the fee stay with the merchant.
      const got = scene.control.balanceOf(item.recipient, USDC);
      assert.ok(got === 1_060n || got === 1_059n, `${got}`);
      assert.partialDeepStrictEqual((await late(id))[0]?.data.lateMoney, {
        reason: 'overpaid',
        asset: USDC,
        amount: '70',
      });
      await isReconciled();
      if (order === 'before') await scene.close();
    }
  });

  it('in a block that is reorganised into another keeps its money once', async () => {
    await open({ depth: 4 });
    const { id, send } = await scene.deposit();
    const node = await scene.newNode();
    send(600n);
    await node.turn();
    send(400n);
    await node.turn();
    assert.equal(await scene.status(id), 'processing');
    scene.control.reorg(2, { transactions: 'kept', length: 3 });
    await node.turn(10);
    assert.equal(await scene.status(id), 'succeeded');
    assert.deepEqual(await scene.balances(USDC), { payer: -1_000n, fees: 10n, [SETTLED]: 990n });
    assert.deepEqual(await late(id), []);
    await isReconciled();
  });
});
