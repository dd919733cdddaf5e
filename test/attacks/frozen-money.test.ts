import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { beginOutgoing } from '../../src/actions/outgoing/begin/begin-outgoing.ts';
import { payOutHeld } from '../../src/actions/outgoing/payout/pay-out-held.ts';
import { approveRefund } from '../../src/actions/outgoing/refund/approve-refund.ts';
import { coverRefunds } from '../../src/actions/outgoing/refund/cover-refunds.ts';
import { requestAsOperator } from '../../src/actions/outgoing/refund/request-refund.ts';
import { changePartner } from '../../src/actions/parties/change-partner.ts';
import { freeze, unfreeze } from '../../src/actions/parties/freeze.ts';
import { shareFreezes } from '../../src/actions/parties/freeze-heads.ts';
import { describeExplanation } from '../../src/cli/explain-commands.ts';
import { parseAccount } from '../../src/domain/caip.ts';
import type { FreezeScope } from '../../src/domain/freeze.ts';
import { refundIdOf } from '../../src/domain/ids.ts';
import { ApiError } from '../../src/errors.ts';
import type { Config } from '../../src/settings/config.ts';
import { COIN, DOLLAR, openRefundScene, type RefundScene } from '../e2e/refund-scene.ts';
import type { TestNode } from '../e2e/relay-scene.ts';
import { REGISTRY } from '../registry.ts';
import { until } from '../until.ts';
import { WAYS_TO_STOP } from './stopping.ts';

const BY = { actor: 'operator', reason: 'key stolen' };

describe('money of a stopped merchant', () => {
  let scene: RefundScene;
  let node: TestNode;
  let destination: string;
  let stopped: { merchantId: string; partnerId: string };
  beforeEach(async () => {
    scene = await openRefundScene();
    node = await scene.newNode();
    destination = scene.payers.newAccount();
    stopped = { merchantId: scene.merchantId, partnerId: 'prtn_test' };
  });
  afterEach(() => scene.close());

  const set = (scope: FreezeScope, subject = '') => freeze(scene, { scope, subject, ...BY });
  const lift = (scope: FreezeScope, subject = '') => unfreeze(scene, { scope, subject, ...BY });
  for (const { name, stop, release } of WAYS_TO_STOP) {
    it(`that is ${name} is not sent for signatures accepted before: they run out, and the payment can be paid again`, async () => {
      const deadlineS = Math.floor(scene.nowMs() / 1000) + 600;
      const { id, commitment } = await scene.accept({ terms: { deadlineS } });
      await stop(scene, stopped);
      await node.turn(3);
      assert.equal((await scene.versions()).length, 0);
      scene.pass(11 * 60_000);
      await node.turn(3);
      assert.equal((await scene.item(commitment))?.state, 'unpaid');
      assert.equal(await scene.status(id), 'requires_action');
      assert.equal((await scene.versions()).length, 0);
    });

    it(`that is ${name} goes on when the operator lets it`, async () => {
      const { id } = await scene.accept();
      await stop(scene, stopped);
      await node.turn(2);
      await release(scene, stopped);
      await node.turn(2);
      assert.equal(await scene.status(id), 'succeeded');
    });

    it(`that is ${name} is not paid out`, async () => {
      const { id } = await scene.paid(node, { isHeld: true });
      await scene.register(destination);
      await stop(scene, stopped);
      await scene.live(node);
      assert.equal((await scene.payout(id))?.state, 'held');
      assert.equal(scene.control.balanceOf(destination, DOLLAR), 0n);
      await release(scene, stopped);
      await scene.live(node);
      assert.equal(scene.control.balanceOf(destination, DOLLAR), 990n);
    });

    it(`that is ${name} is refunded only by the operator`, async () => {
      const [one, two] = [await scene.paid(node, { isHeld: true }), await scene.paid(node, { isHeld: true })];
      await scene.fill(node, 'operator', 1_000n);
      await scene.request(one.id);
      await stop(scene, stopped);
      await assert.rejects(scene.request(two.id), (error) => error instanceof ApiError && error.code === 'forbidden');
      await scene.live(node);
      assert.equal((await scene.refund(one.id)).state, 'requested', 'a request from before waits');
      await approveRefund(scene, { id: refundIdOf(one.id, 1), actor: 'operator' });
      await requestAsOperator(scene, { paymentId: two.id, actor: 'operator' });
      await scene.live(node);
      for (const { id, item } of [one, two]) {
        assert.equal((await scene.refund(id)).state, 'refunded');
        assert.equal(scene.control.balanceOf(item.payer, DOLLAR), item.amount);
      }
    });

    it(`that is ${name} and arrives on chain all the same is recorded, and waits`, async () => {
      const { id, pay } = await scene.offerHeld();
      await scene.register(destination, COIN);
      await stop(scene, stopped);
      pay();
      await scene.live(node);
      assert.equal(await scene.status(id), 'succeeded');
      assert.equal((await scene.payout(id))?.state, 'held');
      assert.equal(scene.control.balanceOf(destination, COIN), 0n);
    });
  }

  it('does not leave by a refund to another account while its partner is disabled; refunds to payers go on', async () => {
    const [one, two] = [await scene.paid(node, { isHeld: true }), await scene.paid(node, { isHeld: true })];
    await scene.fill(node, 'operator', 1_000n);
    const friend = parseAccount(`${scene.network}:${scene.payers.newAccount()}`);
    assert.ok(friend.ok);
    await scene.request(one.id, { destination: friend.value, coolingOffMs: 3_600_000 });
    await scene.request(two.id);
    const disable = (isDisabled: boolean) =>
      changePartner(scene, { actor: 'operator', partnerId: stopped.partnerId, changes: { isDisabled } });
    await disable(true);
    scene.pass(3_600_001);
    await scene.live(node);
    assert.deepEqual(
      [(await scene.refund(one.id)).state, (await scene.refund(two.id)).state],
      ['requested', 'refunded'],
    );
    const { text } = await describeExplanation(
      { ...scene, config: { registry: REGISTRY } as Config },
      scene.chains,
      one.id,
    );
    assert.match(
      text,
      /Its refund of .* is stopped\. The partner prtn_test is disabled: .*`till partners enable prtn_test` ends it\./,
    );
    await disable(false);
    await scene.live(node);
    assert.equal((await scene.refund(one.id)).state, 'refunded');
    assert.equal(scene.control.balanceOf(friend.value.address, DOLLAR), one.item.amount);
  });

  it('does not leave by a payout that was begun, planned or signed before the freeze', async () => {
    await scene.register(destination);
    const payouts = [];
    const steps: (() => Promise<unknown>)[] = [
      async () => {},
      async () => payOutHeld(scene),
      async () => {
        await payOutHeld(scene);
        await beginOutgoing(scene, scene.connected);
      },
    ];
    for (const step of steps) {
      payouts.push(await scene.paid(node, { isHeld: true }));
      await step();
    }
    await set('merchant', scene.merchantId);
    await scene.live(node);
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 0n);
    await lift('merchant', scene.merchantId);
    await scene.live(node);
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 990n * BigInt(payouts.length));
  });

  it('does not leave by any payout while all payouts are frozen, and refunds go on', async () => {
    const [one, two] = [await scene.paid(node, { isHeld: true }), await scene.paid(node, { isHeld: true })];
    await scene.fill(node, 'operator', 1_000n);
    await scene.request(two.id);
    await set('payouts');
    await scene.register(destination);
    await scene.live(node);
    assert.equal((await scene.payout(one.id))?.state, 'held');
    assert.equal((await scene.refund(two.id)).state, 'refunded');
    await lift('payouts');
    await scene.live(node);
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 990n);
  });

  it('does not leave by any refund while all refunds are frozen, the operator’s included', async () => {
    const { id, item } = await scene.paid(node, { isHeld: true });
    await scene.fill(node, 'operator', 1_000n);
    await requestAsOperator(scene, { paymentId: id, actor: 'operator' });
    await coverRefunds(scene);
    await set('refunds');
    await scene.live(node);
    assert.equal(scene.control.balanceOf(item.payer, DOLLAR), 0n);
    await lift('refunds');
    await scene.live(node);
    assert.equal(scene.control.balanceOf(item.payer, DOLLAR), item.amount);
  });

  it('is not sent on a frozen network', async () => {
    const held = await scene.paid(node, { isHeld: true });
    await scene.register(destination);
    const { id } = await scene.accept();
    await set('network', scene.network);
    const sent = (await scene.versions()).length;
    await scene.live(node);
    assert.equal((await scene.versions()).length, sent);
    assert.equal((await scene.payout(held.id))?.state, 'held');
    await lift('network', scene.network);
    await scene.live(node);
    assert.equal(await scene.status(id), 'succeeded');
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 990n);
  });

  it('is not sent after a freeze has returned: the freeze waits for transactions that accept or send', async () => {
    const { promise: go, resolve } = Promise.withResolvers<void>();
    const { promise: shared, resolve: isShared } = Promise.withResolvers<void>();
    const sending = command(scene, async (tx) => {
      await shareFreezes(tx, scene);
      isShared();
      await go;
    });
    await shared;
    let isFrozen = false;
    const freezing = set('payouts').then(() => {
      isFrozen = true;
    });
    await until('the freeze waits for a lock', async () => {
      const rows = await scene.db.sql`
        select from pg_locks where relation = 'freezes'::regclass and mode = 'ExclusiveLock' and not granted`;
      return rows.length === 1;
    });
    assert.equal(isFrozen, false);
    resolve();
    await Promise.all([sending, freezing]);
    assert.ok(isFrozen);
  });

  it('is in an alert until the freeze is lifted, with reason and operator, and in the audit log after that', async () => {
    await set('merchant', scene.merchantId);
    assert.deepEqual(await set('merchant', scene.merchantId), { isNew: false });
    assert.deepEqual(await scene.alerts(), [`frozen merchant ${scene.merchantId}`]);
    assert.equal(await scene.alertText('frozen'), `Merchant ${scene.merchantId} is frozen by operator: key stolen`);
    await lift('merchant', scene.merchantId);
    assert.deepEqual(await scene.alerts(), []);
    const actions = await scene.db.sql<{ action: string }[]>`
      select action from audit_log where subject = ${`merchant ${scene.merchantId}`} order by id`;
    assert.deepEqual(
      actions.map(({ action }) => action),
      ['freeze.set', 'freeze.lifted'],
    );
    await assert.rejects(lift('merchant', scene.merchantId), /is not frozen/);
    await assert.rejects(set('merchant', 'mrch_unknown'), /was not found/);
    await assert.rejects(set('partner', 'prtn_unknown'), /no partner/);
  });
});
