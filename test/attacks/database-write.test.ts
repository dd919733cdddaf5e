import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { recheckRefusals } from '../../src/actions/outgoing/check/recheck-refusals.ts';
import { adoptOutgoing } from '../../src/actions/outgoing/order/adopt-outgoing.ts';
import { orderOutgoing } from '../../src/actions/outgoing/order/order-outgoing.ts';
import { payOutHeld } from '../../src/actions/outgoing/payout/pay-out-held.ts';
import { createCoolOff } from '../../src/actions/parties/cool-off-destinations.ts';
import { putDestinations } from '../../src/actions/parties/destination-rows.ts';
import { termsOfNew } from '../../src/domain/cooling-off.ts';
import { markedId } from '../../src/domain/ids.ts';
import { firstPayoutOf } from '../../src/domain/money/money-out.ts';
import { openOption } from '../../src/domain/option.ts';
import { listAlerts } from '../../src/store/plumbing/alerts.ts';
import { connectTo, type TestConnection } from '../database.ts';
import { DESTINATION, INTERMEDIATE, openPayingShop, type PayingShop, SANDBOX, USDC } from '../e2e/paying-shop.ts';
import { COIN, DOLLAR, openRefundScene, type RefundScene } from '../e2e/refund-scene.ts';
import type { TestNode } from '../e2e/relay-scene.ts';
import { freshKey } from '../gateway.ts';
import { sealedByTest } from '../sealed.ts';
import { until } from '../until.ts';

const MINUTE_MS = 60_000;

describe('an attacker who writes to the database', () => {
  let scene: RefundScene;
  let node: TestNode;
  let sql: TestConnection;
  let thief: string;
  let destination: string;
  beforeEach(async () => {
    scene = await openRefundScene();
    node = await scene.newNode();
    sql = connectTo(scene.databaseUrl);
    thief = scene.payers.newAccount();
    destination = scene.payers.newAccount();
    // The intermediate account has money of others.
    scene.control.setBalance(scene.intermediate, DOLLAR, 1_000_000n);
    await adoptOutgoing(scene);
  });
  afterEach(async () => {
    await sql.end();
    await scene.close();
  });

  const stolen = () => scene.control.balanceOf(thief, DOLLAR);
  const refusals = async () => (await scene.alerts()).filter((alert) => alert.startsWith('outgoing_refused'));

  /** A transfer as the gateway would write it, without the key. */
  async function putOutgoing(fields: Record<string, unknown>): Promise<void> {
    const row = {
      network: scene.network,
      asset: DOLLAR,
      method: 'eip3009-vrs',
      payer: scene.intermediate,
      recipient: thief,
      amount: '500',
      merchant_id: scene.merchantId,
      collector: scene.connected.chain.payerSide.collector(),
      state: 'sending',
      attempts: 0,
      is_due: false,
      signer: 'gateway',
      fee_return: 0,
      created_at: new Date(),
      updated_at: new Date(),
      ...fields,
    };
    await sql`insert into outgoing select * from jsonb_populate_record(null::outgoing, ${sql.json(row as never)}::jsonb)`;
  }

  /** Changes the balance of a merchant's held money in the books, without an entry. */
  const book = (merchantId: string, units: number) => sql`
    insert into book_balances (network, account, asset, units)
    values (${scene.network}, ${`intermediate/payable/${merchantId}`}, ${DOLLAR}, ${units})
    on conflict (network, account, asset) do update set units = book_balances.units + excluded.units`;

  /** A held payment whose payout is ordered and not begun yet. */
  async function ordered(): Promise<{ id: string; payout: string }> {
    const { id } = await scene.paid(node, { isHeld: true });
    await scene.register(destination);
    await payOutHeld(scene);
    return { id, payout: await scene.payoutIdOf(id) };
  }

  for (const [purpose, id] of [
    ['payout', 'pout_00000000000000000000000001'],
    ['refund', 'rfnd_00000000000000000000000001'],
    ['return', markedId('flot_', new Uint8Array(16).fill(5))],
  ] as const) {
    it(`has no ${purpose} signed by putting a row into outgoing`, async () => {
      await putOutgoing({ id, purpose, float_owner: purpose === 'return' ? 'operator' : null });
      await scene.live(node);
      assert.equal(stolen(), 0n);
      assert.deepEqual(await refusals(), [`outgoing_refused ${id}`]);
      assert.match((await scene.alertText('outgoing_refused')) ?? '', /is not signed: its row was not written by this/);
    });
  }

  it('delays no honest payout by rows of its own', async () => {
    for (let count = 0; count < 250; count += 1) {
      await putOutgoing({ id: `pout_${String(count).padStart(26, '0')}`, purpose: 'payout', created_at: new Date(0) });
    }
    const { id } = await ordered();
    await scene.live(node, 6);
    assert.equal((await scene.payout(id))?.state, 'paid');
    assert.equal(stolen(), 0n);
  });

  for (const [name, change] of [
    ['recipient', (row: string) => sql`update outgoing set recipient = ${thief} where id = ${row}`],
    ['amount', (row: string) => sql`update outgoing set amount = amount + 1 where id = ${row}`],
    [
      'payer',
      (row: string) => sql`update outgoing set payer = ${scene.connected.relayers[0]?.address ?? ''} where id = ${row}`,
    ],
  ] as const) {
    it(`has no order signed after a change of its ${name}, until the change is taken back`, async () => {
      const { id, payout } = await ordered();
      const [before] = await sql`select recipient, amount, payer from outgoing where id = ${payout}`;
      await change(payout);
      await scene.live(node);
      assert.equal(stolen(), 0n);
      assert.deepEqual(await refusals(), [`outgoing_refused ${payout}`]);
      await sql`
        update outgoing set recipient = ${before?.recipient}, amount = ${before?.amount}, payer = ${before?.payer}
        where id = ${payout}`;
      scene.pass(MINUTE_MS + 1);
      await scene.live(node);
      assert.equal((await scene.payout(id))?.state, 'paid');
      assert.deepEqual(await refusals(), []);
    });
  }

  it('gets no more than was held by raising a held amount', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    await sql`update lots set amount = 500010, net = 500000 where payment_id = ${id}`;
    await scene.register(destination);
    await scene.live(node);
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 0n);
    assert.deepEqual(await refusals(), [`outgoing_refused ${await scene.payoutIdOf(id)}`]);
    assert.match((await scene.alertText('outgoing_refused')) ?? '', /the books hold less for its merchant/);
    await recheckRefusals(scene);
    assert.equal((await refusals()).length, 1, 'it is told until it is repaired');

    await sql`update lots set amount = 1000, net = 990 where payment_id = ${id}`;
    scene.pass(5 * MINUTE_MS + 1);
    await scene.live(node);
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 990n);
    assert.deepEqual(await refusals(), []);
  });

  it('gets no money of another payment by raising a held amount', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    await scene.paid(node, { isHeld: true });
    await sql`update lots set amount = 1010, net = 1000 where payment_id = ${id}`;
    await scene.register(destination);
    await scene.live(node);
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 0n);
    const texts = (await listAlerts(scene.db.sql)).map(({ subject, message }) => [subject, message] as const);
    const text = new Map(texts).get(await scene.payoutIdOf(id)) ?? '';
    assert.match(text, /the chain shows no payment with these terms/);
  });

  it('delays no other refund by a change of the books', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    const { id: other, payer } = await scene.paid(node, { isHeld: true });
    await scene.fill(node, 'operator', 1_000n);
    // The books have lost all but the money of the other payment.
    await book(scene.merchantId, -990);
    await scene.request(other);
    await scene.request(id);
    await scene.live(node);
    const states = [(await scene.refund(id)).state, (await scene.refund(other)).state];
    assert.deepEqual(states.toSorted(), ['awaiting_funds', 'refunded']);
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), states[1] === 'refunded' ? 1_000n : 0n);
    assert.match((await scene.alertText('refund_awaiting_funds')) ?? '', /the books hold less of its money/);
  });

  it('gets no money by the invention of a payment that was held', async () => {
    const real = await scene.paid(node, { isHeld: true });
    const invented = 'pay_00000000000000000000000042';
    await sql`
      insert into payments select (jsonb_populate_record(p, jsonb_build_object('id', ${invented}::text))).*
      from payments p where p.id = ${real.id}`;
    await sql`
      insert into items select (jsonb_populate_record(i, jsonb_build_object(
        'subject', ${invented}::text, 'commitment', ${`0x${'42'.repeat(32)}`}::text, 'amount', 400000))).*
      from items i where i.subject = ${real.id}`;
    await sql`
      insert into lots select (jsonb_populate_record(l, jsonb_build_object(
        'id', 'invented', 'payment_id', ${invented}::text, 'amount', 390010, 'net', 390000))).*
      from lots l where l.payment_id = ${real.id}`;
    await scene.register(thief);
    await scene.live(node);
    assert.equal(stolen(), 990n, 'the real payment is paid out');
    assert.deepEqual(await refusals(), [`outgoing_refused ${firstPayoutOf('invented')}`]);
  });

  it('has no payout sent to another merchant by moving a held amount there', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    await sql`
      insert into merchants (id, partner_id, mode, name, status, created_at, updated_at)
      select 'mrch_thief', partner_id, mode, 'Thief', status, created_at, updated_at
      from merchants where id = ${scene.merchantId}`;
    await sql`update lots set merchant_id = 'mrch_thief' where payment_id = ${id}`;
    // The merchant of the thief has registered its destination like any other.
    await command(scene, (tx, now) => {
      const terms = termsOfNew(`${scene.network}:${thief}`, undefined, { now, periodMs: 0 });
      const row = { id: 'crypto_thief', merchantId: 'mrch_thief', asset: DOLLAR, assetKey: DOLLAR.toLowerCase() };
      return putDestinations(tx, scene, [{ ...row, ...terms, createdAt: now }]);
    });
    await scene.live(node);
    assert.equal(stolen(), 0n);
    assert.match((await scene.alertText('outgoing_refused')) ?? '', /the books hold less for its merchant/);

    // The attacker writes to the books too.
    await book('mrch_thief', 990);
    scene.pass(5 * MINUTE_MS + 1);
    await scene.live(node);
    assert.equal(stolen(), 0n);
    assert.match((await scene.alertText('outgoing_refused')) ?? '', /its payment belongs to another merchant/);
  });

  it('has no held money sent to a destination that it has changed, until the change is taken back', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    await scene.register(destination);
    await sql`update crypto_settlements set destination = ${`${scene.network}:${thief}`}`;
    await scene.live(node);
    assert.equal(stolen(), 0n);
    assert.deepEqual(await scene.alerts(), [`destination_refused crypto_${destination}`]);
    assert.equal((await scene.payout(id))?.state, 'held');

    await sql`update crypto_settlements set destination = ${`${scene.network}:${destination}`}`;
    await scene.live(node);
    await recheckRefusals(scene);
    assert.equal((await scene.payout(id))?.state, 'paid');
    assert.deepEqual(await scene.alerts(), []);
  });

  it('has no change of a destination applied that nobody ordered', async () => {
    await scene.register(destination);
    await sql`
      update crypto_settlements set pending_destination = ${`${scene.network}:${thief}`}, effective_at = 'epoch'`;
    await createCoolOff(scene)();
    const [row] = await sql`select destination from crypto_settlements`;
    assert.equal(row?.destination, `${scene.network}:${destination}`);
    assert.deepEqual(await scene.alerts(), [`destination_refused crypto_${destination}`]);
  });

  it('has no refund sent to itself', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    await scene.fill(node, 'operator', 1_000n);
    await scene.request(id);
    await sql`update refunds set recipient = ${thief} where payment_id = ${id}`;
    await scene.live(node);
    assert.equal(stolen(), 0n);
    assert.match((await scene.alertText('outgoing_refused')) ?? '', /the chain shows no payment with these terms/);
  });

  it('has nothing paid twice by putting back an old row', async () => {
    const { payout } = await ordered();
    const [before] = await sql`select to_jsonb(o) as row from outgoing o where id = ${payout}`;
    await scene.live(node);
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 990n);
    await sql`delete from outgoing where id = ${payout}`;
    await sql`
      insert into outgoing select * from jsonb_populate_record(null::outgoing, ${sql.json(before?.row as never)}::jsonb)`;
    await scene.live(node);
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 990n);
    assert.match((await scene.alertText('outgoing_refused')) ?? '', /have paid it before/);
  });

  it('has no coin of an account of ours sent by putting an item among the due ones', async () => {
    const relayer = scene.connected.relayers[0]?.address ?? '';
    const held = scene.control.balanceOf(relayer, COIN);
    const { id } = await scene.paid(node);
    const item = { network: scene.network, asset: COIN, method: 'native', purpose: 'return', payer: relayer };
    const terms = { recipient: thief, amount: 10n ** 18n, fee: 0n, feeAccount: scene.connected.feeAccount };
    const deadlineS = Math.floor(scene.world.clock.nowMs() / 1000) + 3_000;
    const collector = scene.connected.chain.payerSide.collector() ?? '';
    const subject = markedId('flot_', new Uint8Array(16).fill(5));
    const { chain } = scene.connected;
    const whole = sealedByTest(chain.payerSide, { ...item, method: 'native', ...terms, deadlineS, collector, subject });
    const row = {
      ...item,
      subject,
      recipient: thief,
      amount: terms.amount.toString(),
      fee: 0,
      deadline: new Date(deadlineS * 1000),
      commitment: chain.payerSide.commitmentOf(whole),
      seal: whole.seal,
      state: 'due',
      signature: '0x',
      attempts: 0,
      refusal: null,
      results_hash: null,
    };
    await sql`
      insert into items select (jsonb_populate_record(i, ${sql.json(row as never)}::jsonb)).*
      from items i where i.subject = ${id}`;
    // A relayer that lacks the newest master secret sends it neither, and does not call it forged.
    await scene.rotateElsewhere();
    await node.turn(1);
    assert.deepEqual(await refusals(), []);
    await sql`delete from receipt_keys`;
    await sql`update items set retry_at = null where subject = ${subject}`;
    await node.turn(4);
    assert.equal(scene.control.balanceOf(thief, COIN), 0n);
    assert.ok(held - scene.control.balanceOf(relayer, COIN) < 10n ** 18n);
    assert.deepEqual(await refusals(), [`outgoing_refused ${subject}`]);
  });

  it('is not believed at a later start: rows of an older version are taken over once', async () => {
    await putOutgoing({ id: 'pout_00000000000000000000000001', purpose: 'payout' });
    await adoptOutgoing(scene);
    await scene.live(node);
    assert.equal(stolen(), 0n);
    assert.equal((await refusals()).length, 1);
  });

  it('would be paid by an order with a MAC, a reason and an entry in the books', async () => {
    const { id } = await ordered();
    await scene.live(node);
    assert.equal((await scene.payout(id))?.state, 'paid');
    assert.deepEqual(await scene.alerts(), []);
    // A MAC alone is not enough.
    const order = { purpose: 'payout', network: scene.network, asset: DOLLAR, method: 'eip3009-vrs' } as const;
    const whose = { payer: scene.intermediate, recipient: thief, merchantId: scene.merchantId, floatOwner: null };
    const forged = { id: 'pout_00000000000000000000000001', ...order, ...whose, amount: 500n };
    await command(scene, (tx, at) => orderOutgoing(tx, scene, [forged], at));
    await scene.live(node);
    assert.equal(stolen(), 0n);
    assert.match((await scene.alertText('outgoing_refused')) ?? '', /the books have not set this amount aside/);
  });
});

describe('an attacker who changes a destination in the database', () => {
  let paying: PayingShop;
  before(async () => {
    paying = await openPayingShop();
  });
  after(() => paying.gateway.stop());

  it('gets no new payment: the merchant is paid at the intermediate account, with an alert', async () => {
    const { gateway, shop, wallet } = paying;
    const { sql } = gateway.db;
    const registered = await gateway.call({
      method: 'POST',
      url: `/v1/merchants/${shop.merchant.id}/settlements/crypto`,
      headers: { ...shop.headers, 'idempotency-key': freshKey() },
      payload: { settlements: [{ asset: USDC, destination: `${SANDBOX}:${DESTINATION}` }] },
    });
    assert.equal(registered.statusCode, 201, registered.body);
    const payer = paying.newPayer({ [USDC]: 10_000_000n });
    const recipient = async () => {
      const id = await paying.created();
      const { id: optionId } = await wallet.option(id, payer.account, USDC);
      return openOption(gateway.optionKeys, id, optionId)?.item.recipient;
    };
    assert.equal(await recipient(), DESTINATION);

    const stranger = '0x9999999999999999999999999999999999999999';
    await sql`update crypto_settlements set destination = ${`${SANDBOX}:${stranger}`}`;
    assert.equal(await recipient(), INTERMEDIATE);
    await until('the operator is told', async () => {
      return (await listAlerts(sql)).some(({ name }) => name === 'destination_refused');
    });
    await sql`update crypto_settlements set destination = ${`${SANDBOX}:${DESTINATION}`}`;
    assert.equal(await recipient(), DESTINATION);
  });
});
