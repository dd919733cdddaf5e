import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { rebuild } from '../../src/actions/books/restore/rebuild.ts';
import { OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { parseAccount } from '../../src/domain/caip.ts';
import type { ApiError } from '../../src/errors.ts';
import { type BooksScene, openBooksScene } from './books-scene.ts';
import { DOLLAR, openRefundScene, type RefundScene } from './refund-scene.ts';

const EVERYTHING = { watching: { sweepFrom: () => 0n } };

describe('money that came by a deposit address', () => {
  let scene: RefundScene;
  afterEach(() => scene.close());

  const accountOf = (address: string) => {
    const parsed = parseAccount(`${scene.network}:${address}`);
    assert.ok(parsed.ok);
    return parsed.value;
  };

  it('is paid out when the merchant names a destination, and is no stray', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    await scene.live(node, 1);
    const { id, send } = await scene.deposit({ isHeld: true });
    send(1_000n);
    await scene.live(node, 5);
    assert.deepEqual([(await scene.payment(id)).status, (await scene.payout(id))?.state], ['succeeded', 'held']);
    const destination = scene.payers.newAccount();
    await scene.register(destination);
    await scene.live(node, 5);
    assert.equal((await scene.payout(id))?.state, 'paid');
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 990n);
    assert.deepEqual(await scene.alerts(), []);
    assert.deepEqual(await scene.differences(), []);
  });

  it('is refunded to an account that the partner names, and to no other', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    const { id, send } = await scene.deposit({ isHeld: true });
    send(1_000n);
    await scene.live(node, 5);
    // The operator gives the fee back.
    await scene.fill(node, OPERATOR_FLOAT, 10_000n);
    await assert.rejects(scene.request(id), (error: ApiError) => error.code === 'params_validation');
    const recipient = scene.payers.newAccount();
    await scene.request(id, { destination: accountOf(recipient) });
    await scene.live(node, 6);
    assert.equal((await scene.refund(id))?.state, 'refunded');
    assert.equal(scene.control.balanceOf(recipient, DOLLAR), 1_000n);
    assert.deepEqual(await scene.differences(), []);
  });

  it('is refunded up to what has come, where less was tolerated', async () => {
    scene = await openRefundScene({ watching: { sweepFrom: () => 0n, toleranceBasisPoints: () => 100 } });
    const node = await scene.newNode();
    const { id, send } = await scene.deposit({ isHeld: true, lifeMs: 300_000 });
    send(991n);
    await scene.live(node, 2);
    scene.pass(16 * 60_000);
    await scene.live(node, 6);
    await scene.fill(node, OPERATOR_FLOAT, 10_000n);
    const recipient = scene.payers.newAccount();
    await scene.request(id, { destination: accountOf(recipient) });
    await scene.live(node, 6);
    assert.equal((await scene.refund(id))?.state, 'refunded');
    assert.equal(scene.control.balanceOf(recipient, DOLLAR), 991n);
    assert.deepEqual(await scene.differences(), []);
  });
});

describe('till rebuild, for deposit addresses', () => {
  let scene: BooksScene;
  afterEach(() => scene.close());

  it('restores a payment from the sweep of its address', async () => {
    scene = await openBooksScene(EVERYTHING);
    const { id, commitment, send } = await scene.deposit();
    const node = await scene.newNode();
    send(1_000n);
    await node.turn(4);
    await scene.seal();
    for (const statement of [
      `delete from events where object_id = '${id}'`,
      `delete from book_entries where reference = '${commitment}'`,
      `delete from payment_settlements where payment_id = '${id}'`,
      `delete from deposit_transfers where commitment = '${commitment}'`,
      `delete from deposits where commitment = '${commitment}'`,
      'delete from send_items where true',
      `delete from items where subject = '${id}'`,
      `delete from payments where id = '${id}'`,
    ]) {
      await scene.tamper(statement);
    }
    const report = await rebuild(scene, scene.connected, { from: 0, merchantId: scene.merchantId });
    assert.deepEqual([report?.rebuilt, report?.unplaced], [[id], []]);
    await node.turn(2);
    const { status, tokenValue } = await scene.payment(id);
    assert.deepEqual([status, tokenValue], ['succeeded', '1000']);
    assert.deepEqual(await scene.balances(DOLLAR), {
      payer: -1_000n,
      fees: 10n,
      [`settled/${scene.merchantId}`]: 990n,
    });
    assert.deepEqual(await scene.differences(), []);
    const again = await rebuild(scene, scene.connected, { from: 0, merchantId: scene.merchantId });
    assert.deepEqual(again?.rebuilt, []);
  });
});
