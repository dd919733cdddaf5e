import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { exportBooks } from '../../src/actions/books/export-books.ts';
import { rebuild } from '../../src/actions/books/restore/rebuild.ts';
import { command } from '../../src/actions/command.ts';
import { addFloat } from '../../src/actions/outgoing/float/add-float.ts';
import { coverByOperator } from '../../src/actions/outgoing/refund/cover-by-operator.ts';
import { isOwnRefund, renewRefundMacs } from '../../src/actions/outgoing/refund/refund-rows.ts';
import { retryRefund } from '../../src/actions/outgoing/refund/retry-refund.ts';
import { vetoRefund } from '../../src/actions/outgoing/refund/veto-refund.ts';
import { putFreeze } from '../../src/actions/parties/freeze.ts';
import { within } from '../../src/actions/renew-macs.ts';
import type { RowKeyDeps } from '../../src/actions/row-keys.ts';
import { COLLECTORS, DEPOSIT_CONTRACTS } from '../../src/chains/evm/collectors.ts';
import { tokenUnitId } from '../../src/chains/units.ts';
import { OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { parseAccount } from '../../src/domain/caip.ts';
import { refundIdOf } from '../../src/domain/ids.ts';
import { waitOf } from '../../src/domain/refund.ts';
import { encryptIds } from '../../src/domain/seal.ts';
import { findShownRefunds, type Refund } from '../../src/store/money/refunds.ts';
import { lockFreezes } from '../../src/store/parties/freezes.ts';
import { REGISTRY } from '../registry.ts';
import { bookkeepingOf } from './bookkeeping-lines.ts';
import { COIN, DOLLAR, openRefundScene, type RefundScene, TETHER } from './refund-scene.ts';
import type { TestNode } from './relay-scene.ts';

/** A payment of the scene: 1.00 dollar, for which 1,000 units were paid, 10 of them the fee. */
const PRICE = 'iso4217/USD';
const units = (value: bigint, asset = DOLLAR) => ({ amount: { unit: tokenUnitId(asset), value } });
const priced = (value: bigint) => ({ amount: { unit: PRICE, value } });

describe('refunds in parts', () => {
  let scene: RefundScene;
  let node: TestNode;
  beforeEach(async () => {
    scene = await openRefundScene();
    node = await scene.newNode();
  });
  afterEach(() => scene.close());

  const amounts = async (id: string) =>
    (await scene.refunds(id)).map(({ amount, fee, price, state }) => `${amount} ${fee} ${price} ${state}`);
  const account = (address: string) => {
    const parsed = parseAccount(`${scene.network}:${address}`);
    assert.ok(parsed.ok);
    return parsed.value;
  };
  const revenue = async () => {
    const [row] = await scene.db.sql<{ value: string }[]>`
      select sum(value)::text as value from payment_stat_changes where status = 'succeeded'`;
    return row?.value;
  };

  /** The sums of the export for accounting, in units. */
  const earnedWith = async (id: string) => {
    const sums = { gross: 0, fee: 0, net: 0 };
    for await (const row of exportBooks(scene.db.sql, REGISTRY, {
      from: new Date(0),
      to: new Date(scene.nowMs() + 1),
    })) {
      if (row.payment !== id) continue;
      for (const name of ['gross', 'fee', 'net'] as const) sums[name] += Math.round(Number(row[name]) * 1e6);
    }
    return sums;
  };

  it('give back price, amount and fee to the unit, and the rest of a held amount can still be paid out', async () => {
    const { id, payer } = await scene.paid(node, { isHeld: true });
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    await scene.request(id, priced(33n));
    await scene.request(id, units(333n));
    await scene.live(node);
    assert.deepEqual(await amounts(id), ['330 3 33 refunded', '333 3 34 refunded']);
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), 663n);
    assert.equal(await revenue(), '33');
    assert.deepEqual([(await scene.payout(id))?.state, (await scene.payout(id))?.amount], ['held', '333']);
    assert.deepEqual(await bookkeepingOf(scene, id), [
      'payment 0.001000 1.00 USD',
      'fee -0.000010 -0.01 USD',
      'held -0.000990 -0.99 USD',
      'refund -0.000330 -0.33 USD',
      'fee_return 0.000003 0.00 USD',
      'held 0.000327 0.33 USD',
      'refund -0.000333 -0.34 USD',
      'fee_return 0.000003 0.00 USD',
      'held 0.000330 0.34 USD',
    ]);
    const shop = scene.payers.newAccount();
    await scene.register(shop);
    await scene.live(node);
    assert.equal(scene.control.balanceOf(shop, DOLLAR), 333n);
    assert.equal((await scene.settlement(id))?.amount, '333');
    assert.ok(
      (await bookkeepingOf(scene, id)).includes('settlement -0.000333 -0.33 USD'),
      'the payout has its own share',
    );
    // The rest is the merchant's now, and its float pays.
    await scene.fill(node, scene.merchantId, 333n);
    await scene.request(id);
    await scene.live(node);
    assert.deepEqual((await amounts(id)).at(-1), '337 4 33 refunded');
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), 1_000n);
    assert.equal(await revenue(), '0');
    assert.deepEqual(
      await earnedWith(id),
      { gross: 0, fee: 0, net: 0 },
      'the export for accounting gives all of it back',
    );
    assert.ok(
      (await bookkeepingOf(scene, id)).includes('float 0.000333 0.33 USD'),
      'the merchant’s float paid the rest',
    );
    assert.deepEqual(await scene.floats(), { [scene.merchantId]: '0', operator: '0' });
    assert.deepEqual(await scene.differences(), []);
    await assert.rejects(scene.request(id), { code: 'already_refunded' });
    await assert.rejects(scene.request(id, units(1n)), { code: 'already_refunded' });
  });

  it('and payments are worth in the export what they are worth at their own quote, to the nearest minor unit', async () => {
    const fees = [1n, 4n, 6n, 14n, 16n, 27n, 58n, 99n, 333n, 996n];
    const paid: { readonly id: string; readonly fee: bigint }[] = [];
    for (const fee of fees) paid.push({ id: (await scene.accept({ terms: { amount: 1_000n, fee } })).id, fee });
    await node.turn(2);
    for (const { id, fee } of paid) {
      assert.equal(await scene.status(id), 'succeeded');
      const lines = (await bookkeepingOf(scene, id)).map((line) => line.split(' '));
      assert.deepEqual(
        lines.map(([type]) => type),
        ['payment', 'fee', 'settlement'],
      );
      // A unit is worth a tenth of a cent.
      for (const [type, amount, fiat] of lines) {
        const exact = Number(amount) * 1e6 * 0.1;
        assert.ok(
          Math.abs(Number(fiat) * 100 - exact) <= 0.5,
          `${type} of a payment with a fee of ${fee}: ${fiat} USD`,
        );
      }
    }
  });

  it('take a held amount whole, and nothing is paid out of it', async () => {
    const { id, payer } = await scene.paid(node, { isHeld: true });
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    await scene.request(id, units(400n));
    await scene.request(id);
    assert.equal((await scene.payout(id))?.state, 'refunding');
    await scene.register(scene.payers.newAccount());
    await scene.live(node);
    assert.equal((await scene.payout(id))?.state, 'refunded');
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), 1_000n);
    assert.deepEqual(await scene.itemsOf(await scene.payoutIdOf(id)), []);
    assert.deepEqual(await scene.differences(), []);
  });

  it('are never more than the payment, however many are requested at once', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    const answers = await Promise.allSettled(Array.from({ length: 10 }, () => scene.request(id, units(170n))));
    const codes = answers.map((answer) => (answer.status === 'fulfilled' ? 'taken' : answer.reason.code));
    assert.deepEqual(codes.sort(), [...Array(5).fill('params_validation'), ...Array(5).fill('taken')]);
    await assert.rejects(scene.request(id, units(151n)), /is more than is left of the payment: 150 \(0\.00015 USDC\)/);
    await assert.rejects(scene.request(id, priced(16n)), /is more than is left of the payment: 15 \(0\.15 USD\)/);
    await scene.request(id);
    const [last] = (await scene.refunds(id)).slice(-1);
    assert.equal(last?.amount, '150');
  });

  it('are at most twelve', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    for (let count = 0; count < 12; count += 1) await scene.request(id, units(1n));
    await assert.rejects(scene.request(id, units(1n)), { code: 'invalid_state', message: /12 refunds/ });
    await assert.rejects(scene.request(id), { code: 'invalid_state' });
    assert.deepEqual(
      (await scene.refunds(id)).map((refund) => refund.id),
      Array.from({ length: 12 }, (_, index) => refundIdOf(id, index + 1)),
    );
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    await scene.live(node);
    assert.equal(new Set((await scene.refunds(id)).map(({ transactionHash }) => transactionHash)).has(null), false);
    assert.deepEqual(await scene.differences(), []);
  });

  it('refuse what cannot be refunded, and take nothing', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    const wrong = async (wish: Parameters<typeof scene.request>[1], message: RegExp) => {
      await assert.rejects(scene.request(id, wish), { code: 'params_validation', message });
    };
    await wrong(
      { amount: { unit: 'iso4217/EUR', value: 1n } },
      /amount\.unit must be the unit of the price, iso4217\/USD/,
    );
    await wrong(units(1n, TETHER), /amount\.unit must be .*or the paid asset/);
    await wrong(units(1_001n), /is more than is left/);
    await wrong({ destination: account(scene.intermediate) }, /destination must not be the operator's own account/);
    const relayer = scene.connected.relayers[0]?.address ?? '';
    await wrong({ destination: account(relayer) }, /destination must not be the operator's own account/);
    for (const contract of [COLLECTORS.at(-1), DEPOSIT_CONTRACTS.at(-1)]) {
      await wrong({ destination: account(contract?.address ?? '') }, /destination must not be the /);
    }
    const { item: deposit } = await scene.deposit();
    await wrong({ destination: account(deposit.payer) }, /destination must not be a deposit address/);
    const elsewhere = { ...account(scene.payers.newAccount()), chainId: 'eip155:1' };
    await wrong({ destination: elsewhere }, /destination must be an account on/);
    const token = DOLLAR.slice(DOLLAR.lastIndexOf(':') + 1);
    await wrong({ destination: account(token) }, /must not be the contract of a token/);
    await assert.rejects(scene.request(refundIdOf(id, 1)), { code: 'payment_not_found' });
    assert.deepEqual(await scene.refunds(id), []);
    assert.equal((await scene.payout(id))?.amount, '990');
  });

  it('go to another account of the partner’s choice, and only if the gateway wrote the row', async () => {
    const { id, payer } = await scene.paid(node, { isHeld: true });
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    const [friend, thief] = [scene.payers.newAccount(), scene.payers.newAccount()];
    await scene.request(id, { ...units(600n), destination: account(friend), reason: 'lost wallet' });
    await scene.live(node);
    assert.equal(scene.control.balanceOf(friend, DOLLAR), 600n);
    await scene.request(id, { ...units(100n), destination: account(friend) });
    await command(scene, (tx) => tx`update refunds set recipient = ${thief} where number = 2`);
    await scene.live(node);
    assert.equal(scene.control.balanceOf(thief, DOLLAR), 0n);
    assert.deepEqual(await scene.alerts(), [`outgoing_refused ${refundIdOf(id, 2)}`]);
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), 0n);
    assert.deepEqual(await scene.differences(), []);
  });

  it('keep their recipient through a rotation of the master secret', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    await scene.request(id, { destination: account(scene.payers.newAccount()) });
    const isOwn = async (rowKeys: RowKeyDeps['rowKeys']) => isOwnRefund({ rowKeys }, await scene.refund(id));
    const fresh = new Uint8Array(32).fill(9);
    assert.deepEqual([await isOwn(scene.rowKeys), await isOwn([fresh])], [true, false]);
    const keys = { rowKeys: [fresh, ...scene.rowKeys] } as const;
    const isTrusted = (refund: Refund) => isOwnRefund(keys, refund);
    assert.equal(await command(scene, (tx, now) => renewRefundMacs(within(tx), keys, { isTrusted, now })), 1);
    assert.ok(await isOwn([fresh]));
    await command(scene, (tx) => tx`update refunds set recipient = 'thief'`);
    assert.equal(await command(scene, (tx, now) => renewRefundMacs(within(tx), keys, { isTrusted, now })), 0);
  });

  it('are not signed when forged rows would make them exceed the payment', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    await scene.fill(node, OPERATOR_FLOAT, 1_000n);
    await scene.fill(node, scene.merchantId, 1_000n);
    await scene.request(id, units(600n));
    await scene.request(id, units(300n));
    await command(
      scene,
      (tx) => tx`
        update refunds set amount = 500, from_merchant = 500 - from_held - from_operator where number = 2`,
    );
    await scene.live(node);
    const sent = await scene.db.sql<{ id: string }[]>`select id from outgoing where state = 'paid'`;
    assert.ok(sent.length <= 1);
    assert.ok((await scene.alerts()).some((alert) => alert.startsWith('outgoing_refused ')));
  });

  it('of each way to pay are carried out in three parts', async () => {
    scene.control.setBalance(scene.intermediate, COIN, 10n ** 18n);
    const offered = await scene.offerHeld();
    offered.pay();
    await node.turn(2);
    const payments = [
      { ...(await scene.paid(node, { isHeld: true })), asset: DOLLAR },
      { ...(await scene.paid(node, { method: 'permit2', isHeld: true })), asset: TETHER },
      { ...offered, asset: COIN },
    ];
    for (const { id, asset, item, payer } of payments) {
      const before = scene.control.balanceOf(payer.address, asset);
      if (asset === COIN) {
        const float = { owner: OPERATOR_FLOAT, asset, transactionHash: scene.sendCoin(item.fee), actor: 'test' };
        await node.turn(2);
        await addFloat(scene, float);
      } else {
        await scene.fill(node, OPERATOR_FLOAT, item.fee, asset);
      }
      await scene.request(id, priced(33n));
      await scene.request(id, units(1n, asset));
      await scene.request(id);
      await scene.live(node, 6);
      const refunds = await scene.refunds(id);
      assert.deepEqual(
        refunds.map(({ state }) => state),
        ['refunded', 'refunded', 'refunded'],
      );
      assert.equal(scene.control.balanceOf(payer.address, asset), before + item.amount);
      assert.equal(
        refunds.reduce((sum, { fee }) => sum + BigInt(fee), 0n),
        item.fee,
      );
    }
    assert.deepEqual(await scene.differences(), []);
    const report = await rebuild(scene, scene.connected, { from: 0 });
    assert.deepEqual([report?.rebuilt, report?.unplaced], [[], []]);
  });

  it('that cannot be received fail, and their part can be refunded elsewhere after a veto', async () => {
    const { id, item, payer } = await scene.paid(node, { isHeld: true });
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    const vault = scene.payers.newAccount();
    scene.control.setBlacklisted(vault, DOLLAR);
    await scene.request(id, { ...units(400n), destination: account(vault) });
    await scene.live(node, 2);
    const refundId = refundIdOf(id, 1);
    await assert.rejects(vetoRefund(scene, { id: refundId, reason: 'test', actor: 'operator' }), /is sending/);
    scene.pass(3_700_000);
    await scene.live(node, 3);
    assert.equal((await scene.refund(id)).state, 'failed');
    await assert.rejects(scene.request(id, units(601n)), /is more than is left of the payment: 600/);
    await vetoRefund(scene, { id: refundId, reason: 'the vault cannot receive it', actor: 'operator' });
    await scene.request(id);
    await scene.live(node);
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), item.amount);
    assert.deepEqual(await amounts(id), ['400 4 40 failed', '1000 10 100 refunded']);
    assert.deepEqual(await scene.floats(), { operator: '0' });
    assert.deepEqual(await scene.alerts(), []);
    assert.deepEqual(await scene.differences(), []);
  });

  it('say what they wait for', async () => {
    const { id } = await scene.paid(node);
    const waits = async () =>
      (await findShownRefunds(scene.db.sql, { paymentId: id, now: new Date(scene.nowMs()) })).map(waitOf);
    await scene.request(id, units(500n));
    assert.deepEqual(await waits(), [undefined]);
    await scene.fill(node, scene.merchantId, 200n);
    await scene.live(node, 1);
    assert.deepEqual(await waits(), [{ what: 'merchant_signature', units: '500' }]);
    await command(scene, async (tx, since) => {
      await lockFreezes(tx);
      await putFreeze(tx, scene, { scope: 'refunds', subject: '', reason: 'test', actor: 'test', since });
    });
    assert.deepEqual(await waits(), [{ what: 'unfreeze', units: '500' }]);
    await command(scene, (tx) => tx`delete from freezes`);
  });

  it('are covered by the operator’s float when the operator says so', async () => {
    const { id, payer } = await scene.paid(node);
    await scene.fill(node, scene.merchantId, 100n);
    await scene.request(id, units(500n));
    await scene.live(node, 1);
    const refundId = refundIdOf(id, 1);
    const { missing } = await coverByOperator(scene, { id: refundId, actor: 'operator' });
    assert.equal(missing?.units, 400n);
    await scene.fill(node, OPERATOR_FLOAT, 400n);
    await scene.live(node);
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), 500n);
    assert.deepEqual(await scene.floats(), { [scene.merchantId]: '0', operator: '0' });
    assert.deepEqual(await amounts(id), ['500 5 50 refunded']);
    assert.deepEqual(await scene.differences(), []);
    await assert.rejects(coverByOperator(scene, { id: refundId, actor: 'operator' }), /does not wait for funds/);
    // The fee of the rest is what is left of it, whoever paid the first part.
    await scene.request(id);
    assert.deepEqual((await amounts(id)).at(-1), '500 5 50 requested');
  });

  describe('after a restore from an older backup', () => {
    const restore = async () => {
      const report = await rebuild(scene, scene.connected, { from: 0 });
      return { rebuilt: report?.rebuilt, unplaced: report?.unplaced };
    };
    /** Three refunds of 200, 300 and 100, of which the database forgets the last ones. */
    async function forgotten(numbers: readonly number[], isHeld = true) {
      const payment = await scene.paid(node, { isHeld });
      await scene.fill(node, OPERATOR_FLOAT, 100n);
      await scene.fill(node, scene.merchantId, 1_000n);
      for (const value of [200n, 300n, 100n]) await scene.request(payment.id, units(value));
      await scene.live(node);
      assert.equal(scene.control.balanceOf(payment.payer.address, DOLLAR), 600n);
      for (const number of numbers.toReversed()) await scene.forget(payment.id, number);
      return payment;
    }

    it('are made again from the chain, with their fees', async () => {
      const { id } = await forgotten([1, 2, 3]);
      assert.deepEqual(
        (await restore()).rebuilt,
        [1, 2, 3].map((number) => refundIdOf(id, number)),
      );
      assert.deepEqual(await amounts(id), ['200 2 20 refunded', '300 3 30 refunded', '100 1 10 refunded']);
      assert.deepEqual([(await scene.payout(id))?.state, (await scene.payout(id))?.amount], ['held', '396']);
      assert.deepEqual(await scene.floats(), { [scene.merchantId]: '1000', operator: '94' });
      assert.deepEqual(await scene.differences(), []);
      assert.deepEqual(await restore(), { rebuilt: [], unplaced: [] });
    });

    it('are planned anew if they took a held amount that the chain shows as paid out whole', async () => {
      const { id, payer } = await scene.paid(node, { isHeld: true });
      await scene.register(scene.payers.newAccount());
      await scene.live(node);
      await scene.forgetPayout(id);
      await scene.request(id);
      assert.equal((await scene.payout(id))?.state, 'refunding');
      assert.deepEqual(await restore(), { rebuilt: [await scene.payoutIdOf(id)], unplaced: [] });
      await scene.fill(node, OPERATOR_FLOAT, 10n);
      await scene.fill(node, scene.merchantId, 990n);
      await scene.live(node);
      assert.deepEqual(await amounts(id), ['1000 10 100 refunded']);
      assert.equal(scene.control.balanceOf(payer.address, DOLLAR), 1_000n);
      assert.deepEqual(await scene.differences(), []);
    });

    it('fill the number of a request that was lost before it was signed', async () => {
      const { id } = await forgotten([1, 2, 3]);
      await restore();
      await scene.forget(id, 2);
      await command(
        scene,
        (tx) =>
          tx`delete from chain_events where fields ->> 'subject' = ${encryptIds(scene.subjectKeys, [refundIdOf(id, 2)])[0] ?? 'none'}`,
      );
      await scene.request(id, units(7n));
      assert.deepEqual(
        (await scene.refunds(id)).map(({ number, amount }) => `${number} ${amount}`),
        ['1 200', '2 7', '3 100'],
      );
    });

    it('give way to those on the chain: a new request with the number of a forgotten one is replaced', async () => {
      const { id, payer } = await forgotten([2, 3]);
      await scene.request(id, units(50n));
      await scene.request(id, units(750n));
      await restore();
      assert.deepEqual(await amounts(id), ['200 2 20 refunded', '300 3 30 refunded', '100 1 10 refunded']);
      await scene.live(node);
      assert.equal(scene.control.balanceOf(payer.address, DOLLAR), 600n);
      assert.deepEqual(await scene.differences(), []);
    });

    it('end if they no longer fit, and cannot be retried', async () => {
      const { id, payer } = await forgotten([3]);
      await scene.request(id, units(40n));
      await scene.request(id, units(450n));
      await scene.request(id, units(10n));
      await restore();
      const [, , , unfit, fits] = await scene.refunds(id);
      assert.deepEqual([unfit?.state, unfit?.problem], ['failed', 'not_left']);
      assert.deepEqual([fits?.state, fits?.amount], ['requested', '10']);
      await assert.rejects(
        retryRefund(scene, { id: unfit?.id ?? '', actor: 'operator' }),
        /not_left, and cannot be retried/,
      );
      await scene.live(node);
      await scene.request(id);
      await scene.live(node);
      assert.equal(scene.control.balanceOf(payer.address, DOLLAR), 1_000n);
      assert.deepEqual(await scene.differences(), []);
    });

    it('use what a forgotten payout has left, and no more', async () => {
      const { id, payer } = await scene.paid(node, { isHeld: true });
      await scene.fill(node, OPERATOR_FLOAT, 100n);
      await scene.request(id, units(200n));
      await scene.live(node);
      const shop = scene.payers.newAccount();
      await scene.register(shop);
      await scene.live(node);
      assert.equal(scene.control.balanceOf(shop, DOLLAR), 792n);
      await command(scene, (tx) => tx`delete from crypto_settlements`);
      await scene.forgetPayout(id);
      await scene.forget(id, 1);
      // The held amount seems to be there, and a new request takes a part of it.
      await scene.request(id, units(500n));
      const { unplaced } = await restore();
      assert.deepEqual(unplaced, []);
      assert.deepEqual(await amounts(id), ['200 2 20 refunded']);
      assert.deepEqual([(await scene.payout(id))?.state, (await scene.payout(id))?.amount], ['paid', '792']);
      await scene.live(node);
      assert.equal(scene.control.balanceOf(payer.address, DOLLAR), 200n);
      assert.deepEqual(await scene.differences(), []);
    });
  });
});
