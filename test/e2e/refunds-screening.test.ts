import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { coverRefunds } from '../../src/actions/outgoing/refund/cover-refunds.ts';
import { retryRefund } from '../../src/actions/outgoing/refund/retry-refund.ts';
import { returnUnexpected } from '../../src/actions/outgoing/return/return-unexpected.ts';
import { OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { refundIdOf } from '../../src/domain/ids.ts';
import { listEvents } from '../../src/store/events/events.ts';
import { listUnexpected } from '../../src/store/money/unexpected-money.ts';
import { DOLLAR, openRefundScene, type RefundScene } from './refund-scene.ts';
import type { TestNode } from './relay-scene.ts';

const LIST = { hash: 'ab'.repeat(32), version: 'sdn-1', date: '2026-03-01' };

describe('refunds to accounts on the screening list', () => {
  let scene: RefundScene;
  let node: TestNode;
  const listed = new Set<string>();
  beforeEach(async () => {
    listed.clear();
    const decide = (accounts: readonly string[]) => ({
      hits: accounts.filter((account) => listed.has(account)),
      list: LIST,
    });
    scene = await openRefundScene({ screening: { decide } });
    node = await scene.newNode();
  });
  afterEach(() => scene.close());

  async function paid() {
    const payment = await scene.paid(node, { isHeld: true });
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    const account = `${scene.network}:${payment.payer.address}`;
    const holds = () => scene.control.balanceOf(payment.payer.address, DOLLAR);
    return { ...payment, account, holds, refundId: refundIdOf(payment.id, 1) };
  }

  it('are accepted and fail, keep the held amount, and are sent when the list has changed and the operator retries', async () => {
    const { id, item, account, holds, refundId } = await paid();
    listed.add(account);
    await scene.request(id);
    const refund = await scene.refund(id);
    assert.deepEqual([refund.state, refund.problem], ['failed', 'recipient_screened']);
    assert.deepEqual((await listEvents(scene.db.sql, refundId)).at(-1)?.evidence.screening, LIST);
    assert.deepEqual(await scene.alerts(), [`refund_failed ${refundId}`]);
    await assert.rejects(scene.request(id), { code: 'already_refunded' });
    await retryRefund(scene, { id: refundId, actor: 'operator' });
    await scene.live(node, 3);
    assert.equal((await scene.refund(id)).state, 'failed');
    assert.equal((await scene.payout(id))?.state, 'refunding');
    assert.equal(holds(), 0n);
    assert.deepEqual(await scene.floats(), { operator: '10' });
    listed.clear();
    await retryRefund(scene, { id: refundId, actor: 'operator' });
    await scene.live(node);
    assert.equal((await scene.refund(id)).state, 'refunded');
    assert.equal(holds(), item.amount);
    assert.deepEqual(await scene.alerts(), []);
    assert.deepEqual(await scene.differences(), []);
  });

  it('are found by a new list while they wait for funds', async () => {
    const { id, account } = await paid();
    await scene.db.sql`update floats set units = 0`;
    await scene.request(id);
    await scene.live(node, 1);
    assert.equal((await scene.refund(id)).state, 'awaiting_funds');
    listed.add(account);
    await scene.db.sql`update floats set units = 10`;
    await scene.live(node, 1);
    assert.equal((await scene.refund(id)).state, 'failed');
    assert.deepEqual(await scene.alerts(), [`refund_failed ${refundIdOf(id, 1)}`]);
  });

  it('are never signed when a new list names them after they were covered', async () => {
    const { id, item, account, holds, refundId } = await paid();
    await scene.request(id);
    await coverRefunds(scene);
    assert.equal((await scene.refund(id)).state, 'sending');
    listed.add(account);
    await scene.live(node, 3);
    const refund = await scene.refund(id);
    assert.deepEqual([refund.state, refund.problem], ['failed', 'recipient_screened']);
    assert.deepEqual((await listEvents(scene.db.sql, refundId)).at(-1)?.evidence.screening, LIST);
    assert.deepEqual([...(await scene.itemsOf(refundId))], []);
    assert.equal((await scene.books())['intermediate/refunds'], item.amount);
    assert.equal(holds(), 0n);
    listed.clear();
    await retryRefund(scene, { id: refundId, actor: 'operator' });
    await scene.live(node);
    assert.equal(holds(), item.amount);
    assert.deepEqual(await scene.alerts(), []);
    assert.deepEqual(await scene.differences(), []);
  });

  it('apply to unexpected money too: money of such an account is not returned', async () => {
    const sender = scene.payers.newAccount();
    await scene.live(node, 1);
    scene.transfer({ from: sender, units: 77n });
    await scene.live(node, 2);
    listed.add(`${scene.network}:${sender}`);
    const unexpectedMoney = () =>
      listUnexpected(scene.db.sql, { states: ['unclaimed', 'returning', 'returned'], limit: 5 });
    const [{ id } = assert.fail('The money was not found.')] = await unexpectedMoney();
    await returnUnexpected(scene, { id, to: undefined, actor: 'test' });
    await scene.live(node, 3);
    assert.deepEqual(
      (await unexpectedMoney()).map(({ state }) => state),
      ['unclaimed'],
    );
    assert.ok((await scene.alerts()).includes(`return_failed ${id}`));
    assert.equal(scene.control.balanceOf(sender, DOLLAR), 0n);
  });
});
