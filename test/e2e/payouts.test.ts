import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { beginOutgoing } from '../../src/actions/outgoing/begin/begin-outgoing.ts';
import { orderOutgoing } from '../../src/actions/outgoing/order/order-outgoing.ts';
import { payOutHeld } from '../../src/actions/outgoing/payout/pay-out-held.ts';
import { putDestinations } from '../../src/actions/parties/destination-rows.ts';
import { termsOfNew } from '../../src/domain/cooling-off.ts';
import { itemOf } from '../../src/store/chain/items.ts';
import { findOutgoing, planAttempt } from '../../src/store/money/outgoing.ts';
import { insertMerchant } from '../../src/store/parties/merchants.ts';
import { listAlerts } from '../../src/store/plumbing/alerts.ts';
import { COIN, DOLLAR, openRefundScene, type RefundScene } from './refund-scene.ts';
import type { TestNode } from './relay-scene.ts';

describe('payouts of held amounts', () => {
  let scene: RefundScene;
  let node: TestNode;
  let destination: string;
  beforeEach(async () => {
    scene = await openRefundScene();
    node = await scene.newNode();
    destination = scene.payers.newAccount();
  });
  afterEach(() => scene.close());

  it('wait for a destination, then go out together, and make their payments settled', async () => {
    const payments = [];
    for (let count = 0; count < 5; count += 1) payments.push(await scene.paid(node, { isHeld: true }));
    await scene.live(node, 2);
    for (const { id } of payments) {
      assert.equal((await scene.payout(id))?.state, 'held');
      assert.equal(await scene.settlement(id), undefined);
    }
    const sent = (await scene.versions()).length;
    await scene.register(destination);
    await scene.live(node);
    const settlements = await Promise.all(payments.map(({ id }) => scene.settlement(id)));
    assert.deepEqual(new Set(settlements.map((settlement) => settlement?.amount)), new Set(['990']));
    assert.equal(new Set(settlements.map((settlement) => settlement?.transactionHash)).size, 1);
    assert.equal((await scene.versions()).length, sent + 1);
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 5n * 990n);
    assert.equal((await scene.books())[`settled/${scene.merchantId}`], 5n * 990n);
    assert.deepEqual(await scene.differences(), []);
  });

  it('to a destination that cannot receive are held again, delay no other, and go to a new destination at once', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    scene.control.setBlacklisted(destination, DOLLAR);
    await scene.register(destination);
    await scene.live(node, 2);
    scene.pass(3_700_000);
    await scene.live(node, 2);
    const held = await scene.payout(id);
    assert.deepEqual([held?.state, held?.problem], ['held', 'recipient_blacklisted']);
    assert.deepEqual(await scene.alerts(), [`payout_failed ${await scene.payoutIdOf(id)}`]);
    assert.match(
      (await scene.alertText('payout_failed')) ?? '',
      /^The payout of \d+\.\d{2,} USDC on Till Sandbox to 0x\w+ did not arrive \(/,
    );
    const other = scene.payers.newAccount();
    await scene.redirect(other);
    await scene.live(node);
    assert.equal((await scene.payout(id))?.state, 'paid');
    assert.equal(scene.control.balanceOf(other, DOLLAR), 990n);
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 0n);
    assert.deepEqual(await scene.alerts(), []);
    assert.deepEqual(await scene.differences(), []);
  });

  it('that cannot be begun for a fault of their own hold up no other, however few have a turn in a round', async () => {
    const payments = [await scene.paid(node, { isHeld: true }), await scene.paid(node, { isHeld: true })];
    await scene.register(destination);
    await payOutHeld(scene);
    const [unlucky = '', other = ''] = await Promise.all(payments.map(({ id }) => scene.payoutIdOf(id)));
    await scene.db.sql`update outgoing set created_at = ${new Date(0)} where id = ${unlucky}`;
    const { signItem } = scene.chain.sender;
    let isBroken = true;
    const unreadable = async (...[signer, item]: Parameters<typeof signItem>) => {
      if (isBroken && item.subject === unlucky) throw new Error('The signer cannot read these terms.');
      return signItem(signer, item);
    };
    Object.assign(scene.chain.sender, { signItem: unreadable });
    const begin = () => beginOutgoing({ ...scene, mostPerRound: 1 }, scene.connected);
    scene.pass(1_000);
    await assert.rejects(begin(), /cannot read these terms/);
    await begin();
    await node.turn(2);
    assert.equal((await findOutgoing(scene.db.sql, other))?.state, 'paid');
    assert.deepEqual(await scene.alerts(), [`outgoing_refused ${unlucky}`]);
    isBroken = false;
    await begin();
    await node.turn(2);
    assert.equal((await findOutgoing(scene.db.sql, unlucky))?.state, 'paid');
    assert.deepEqual(await scene.alerts(), []);
  });

  it('that were planned for an older Collector are signed for it, also after a newer one has come', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    await scene.register(destination);
    await payOutHeld(scene);
    const outgoing = await findOutgoing(scene.db.sql, await scene.payoutIdOf(id));
    assert.ok(outgoing);
    const collector = '0x00000000000000000000000000000000000C0113';
    const deadline = new Date(Math.floor(scene.nowMs() / 1000) * 1000 + 3_600_000);
    const terms = { collector, feeAccount: scene.connected.feeAccount, deadlineS: deadline.getTime() / 1000 };
    const { network, asset, method, payer, recipient } = outgoing;
    const item = { network, asset, method, payer, recipient, subject: outgoing.id, fee: 0n, ...terms };
    const commitment = scene.chain.payerSide.commitmentOf({ ...item, amount: BigInt(outgoing.amount) });
    const attempt = { id: outgoing.id, commitment, seal: null, collector, feeAccount: terms.feeAccount, deadline };
    assert.ok(await command(scene, (tx, now) => planAttempt(tx, attempt, now)));
    await scene.live(node);
    const [stored] = await scene.itemsOf(outgoing.id);
    assert.deepEqual([stored?.commitment, stored?.collector, stored?.state], [commitment, collector, 'paid']);
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 990n);
  });

  it('that were signed are carried out as signed, whatever is registered meanwhile', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    await scene.register(destination);
    await scene.payOut();
    await scene.redirect(scene.payers.newAccount());
    await scene.live(node);
    assert.equal((await scene.settlement(id))?.recipient, destination);
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 990n);
  });

  it('are made once when the authorization is relayed by a stranger first', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    await scene.register(destination);
    await scene.payOut();
    const [stored] = await scene.itemsOf(await scene.payoutIdOf(id));
    assert.ok(stored?.signature);
    const { commitment, signature } = stored;
    scene.control.relayAsStranger([{ item: itemOf(stored), commitment, signature, hasCode: false }]);
    await scene.live(node);
    assert.equal((await scene.payout(id))?.state, 'paid');
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 990n);
  });

  it('of coin are sent by the intermediate account itself', async () => {
    scene.control.setBalance(scene.intermediate, COIN, 10n ** 18n);
    const { id, pay, item } = await scene.offerHeld();
    pay();
    await node.turn(2);
    assert.equal(await scene.status(id), 'succeeded');
    await scene.register(destination, COIN);
    await scene.live(node);
    assert.equal((await scene.payout(id))?.state, 'paid');
    assert.equal(scene.control.balanceOf(destination, COIN), item.amount - item.fee);
    assert.equal((await scene.settlement(id))?.asset, COIN);
    assert.deepEqual(await scene.differences(), []);
  });

  it('and refunds that wait for the key of their account say so', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    await scene.register(destination);
    await payOutHeld(scene);
    const { intermediateSigner: _key, ...keyless } = scene.connected;
    await beginOutgoing(scene, keyless);
    assert.deepEqual(await scene.alerts(), [`intermediate_key_missing ${scene.network}`]);
    await scene.live(node);
    assert.equal((await scene.payout(id))?.state, 'paid');
    assert.deepEqual(await scene.alerts(), []);
  });

  it('that wait for the key of an earlier account hold up none of the account in its place', async () => {
    const earlier = scene.payers.newAccount();
    const stuck = Array.from({ length: 250 }, (_, index) => ({
      id: `pout_${String(index).padStart(26, '0')}`,
      purpose: 'payout' as const,
      network: scene.network,
      asset: DOLLAR,
      method: 'eip3009-vrs' as const,
      payer: earlier,
      recipient: destination,
      merchantId: scene.merchantId,
      floatOwner: null,
      amount: 1n,
    }));
    await command(scene, (tx, at) => orderOutgoing(tx, scene, stuck, at));
    const { id } = await scene.paid(node, { isHeld: true });
    await scene.register(destination);
    await scene.live(node);
    assert.equal((await scene.payout(id))?.state, 'paid');
    const [alert] = await listAlerts(scene.db.sql);
    assert.match(alert?.message ?? '', /^250 /);
  });

  it('wait while more than the hourly limit would leave, with an alert, and go out later', async () => {
    await scene.close();
    scene = await openRefundScene({ hourlyLimit: () => 25n });
    node = await scene.newNode();
    const amounts = { amount: 11_000_000n, fee: 1_000_000n };
    const payments = [];
    for (let count = 0; count < 3; count += 1) payments.push(await scene.paid(node, { isHeld: true, terms: amounts }));
    await scene.register(destination);
    await scene.live(node);
    const arrived = () => scene.control.balanceOf(destination, DOLLAR);
    assert.equal(arrived(), 20_000_000n);
    assert.deepEqual(await scene.alerts(), [`outgoing_limited ${DOLLAR}`]);
    assert.match((await scene.alertText('outgoing_limited')) ?? '', /10\.00 USDC .* more than 25 tokens would leave/);

    scene.pass(30 * 60_000);
    await scene.live(node, 2);
    assert.equal(arrived(), 20_000_000n, 'the hour is not over');
    scene.pass(31 * 60_000);
    await scene.live(node);
    assert.equal(arrived(), 30_000_000n);
    assert.deepEqual(await scene.alerts(), []);
  });

  it('to the account they lie on are left where they are, and hold up no other', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    await command(scene, async (tx, createdAt) => {
      // Many more than are looked at in one round, all of them older, of a merchant paid at the intermediate account itself.
      const own = { id: 'mrch_0', name: 'Own', email: null, status: 'active', iconUrl: null } as const;
      const owner = { partnerId: 'prtn_test', mode: 'test' } as const;
      await insertMerchant(tx, { ...own, ...owner, createdAt, updatedAt: createdAt });
      await tx`
        insert into payments select (jsonb_populate_record(p, jsonb_build_object(
          'id', 'pay_0' || lpad(n::text, 25, '0'), 'merchant_id', 'mrch_0'))).*
        from payments p, generate_series(1, 600) n where p.id = ${id}`;
      await tx`
        insert into lots select (jsonb_populate_record(l, jsonb_build_object(
          'id', l.id || n, 'payment_id', 'pay_0' || lpad(n::text, 25, '0'), 'merchant_id', 'mrch_0'))).*
        from lots l, generate_series(1, 600) n where l.payment_id = ${id}`;
      const asset = { asset: DOLLAR, assetKey: DOLLAR.toLowerCase() };
      const row = { id: 'crypto_0', merchantId: 'mrch_0', ...asset, createdAt };
      const spelled = `${scene.network}:${scene.intermediate.toLowerCase()}`;
      const terms = termsOfNew(spelled, undefined, { now: createdAt, periodMs: 0 });
      await putDestinations(tx, scene, [{ ...row, ...terms }]);
    });
    await scene.register(destination);
    await scene.live(node);
    assert.equal((await scene.payout(id))?.state, 'paid');
    assert.equal((await scene.payout(`pay_0${'1'.padStart(25, '0')}`))?.state, 'held');
  });

  it('need the key of the intermediate account: without it they wait', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    await scene.register(destination);
    const { intermediateSigner: _key, ...keyless } = scene.connected;
    const chains = { find: () => keyless, list: () => [keyless] };
    assert.equal(await payOutHeld({ ...scene, chains }), false);
    assert.equal((await scene.payout(id))?.state, 'held');
  });
});
