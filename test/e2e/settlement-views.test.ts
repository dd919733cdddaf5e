import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { itemKeyOf } from '../../src/domain/item.ts';
import { insertPaymentSettlements } from '../../src/store/payments/payment-settlements.ts';
import { startTestGateway, type TestGateway } from '../gateway.ts';
import { type ManualTime, manualTime } from '../manual-time.ts';
import type { Json } from './list-test.ts';
import { BUYER, EVENTS, happen, openShop, type Shop, TOKEN, TX_HASH } from './shop.ts';

const RECIPIENT = '0x3333333333333333333333333333333333333333';
const PAYOUT_HASH = `0x${'cd'.repeat(32)}`;
const DISPLAY = { assetSymbol: 'USDC', assetName: 'USD Coin', decimals: 6, networkName: 'Base' };

describe('settlement and fees, as partners see them', () => {
  let time: ManualTime;
  let gateway: TestGateway;
  let shop: Shop;
  let items = 0;
  before(async () => {
    time = manualTime();
    gateway = await startTestGateway({ world: { clock: time.clock } });
    shop = await openShop(gateway);
  });
  after(() => gateway.stop());

  const details = async (id: string): Promise<Json> => (await shop.details(id)).json();
  async function listed(id: string): Promise<Json> {
    const { data } = (await gateway.call({ url: '/v1/merchants/payments', headers: shop.headers })).json();
    return data.find(({ paymentId }: Json) => paymentId === id);
  }
  async function listedOfOld(id: string): Promise<Json> {
    const url = `/v1/merchants/${shop.merchant.id}/payments`;
    const { data } = (await gateway.call({ url, headers: shop.headers })).json();
    return data.find(({ payment_id }: Json) => payment_id === id);
  }

  /** Ten dollars paid with USDC, of which 180,000 units were taken. */
  async function paid({ isHeld }: { isHeld: boolean }): Promise<string> {
    items += 1;
    const { paymentId } = await shop.created();
    const network = 'eip155:8453';
    const key = itemKeyOf({ network, commitment: `0x${items.toString(16).padStart(64, '0')}` });
    const address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
    const item = {
      network,
      collector: address,
      asset: TOKEN.asset,
      method: 'eip3009-bytes' as const,
      subject: paymentId,
      payer: address,
      recipient: RECIPIENT,
      feeAccount: address,
      amount: TOKEN.value,
      fee: 180_000n,
      deadlineS: 1_900_000_000,
    };
    const accepted = {
      ...{ key, item, account: BUYER.account, quote: null, buyerName: 'Wallet', buyerIcon: null },
      ...{ signature: '0x01', hasCode: false, resultsHash: null, hintedHash: null, isHeld },
      state: 'due',
      feeTerms: { percentage: '0.4', fixed: '140000' },
    } as const;
    const move = { paymentId, actor: 'test', evidence: {} };
    await gateway.movePayment({ ...move, event: EVENTS.confirmed, items: { accepted: [accepted] } });
    const settlement = { asset: TOKEN.asset, amount: '9820000', recipient: RECIPIENT, transactionHash: TX_HASH };
    const { ok } = await gateway.movePayment({
      ...move,
      event: EVENTS.succeeded,
      items: { ended: [{ key, state: 'paid', reason: null }] },
      settlement: isHeld ? undefined : settlement,
    });
    assert.ok(ok);
    return paymentId;
  }

  it('shows nothing for payments that have not succeeded', async () => {
    for (const events of [[], ['confirmed'], ['confirmed', 'failed']] as const) {
      const { paymentId } = await shop.created();
      await happen(gateway, paymentId, ...events);
      assert.equal((await details(paymentId)).settlement, null);
      const item = await listed(paymentId);
      for (const name of ['fees', 'settlement', 'settledAt']) assert.ok(!(name in item), name);
      const old = await listedOfOld(paymentId);
      assert.deepEqual([old.settled_at, old.settlement_status, old.settlement_tx_hash], [null, null, null]);
    }
  });

  it('shows a direct payment as settled from the moment of success', async () => {
    const id = await paid({ isHeld: false });
    const unit = `caip19/${TOKEN.asset}`;
    const { successful } = (await details(id)).settlement;
    assert.deepEqual([successful.amount, successful.txId], [{ unit, value: '9820000' }, TX_HASH]);
    const { settlement, settledAt, fees, lastUpdatedAt } = await listed(id);
    assert.deepEqual([settlement.settled, settlement.txHash, settledAt], [true, TX_HASH, lastUpdatedAt]);
    assert.equal(settledAt, new Date(time.clock.nowMs()).toISOString());
    for (const [amount, value] of [
      [settlement.amount, '9820000'],
      [fees.total, '180000'],
      [fees.fixed, '140000'],
    ]) {
      const { iconUrl: _, networkIconUrl: __, ...display } = amount.display;
      assert.deepEqual({ ...amount, display }, { unit, value, display: DISPLAY });
    }
    assert.equal(fees.percentage, '0.4');
    const old = await listedOfOld(id);
    assert.deepEqual([old.settled_at, old.settlement_status, old.settlement_tx_hash], [settledAt, 'settled', TX_HASH]);
  });

  it('shows a held amount as not settled, and as settled once it is paid out, on every node', async () => {
    const id = await paid({ isHeld: true });
    const other = await startTestGateway({ databaseUrl: gateway.databaseUrl, world: { clock: time.clock } });
    try {
      for (const node of [gateway, other]) {
        const { settlement } = (await node.call({ url: `/v1/payments/${id}`, headers: shop.headers })).json();
        assert.equal(settlement, null);
      }
      const held = await listed(id);
      assert.deepEqual([held.settlement, held.settledAt], [{ settled: false }, undefined]);
      assert.equal(held.fees.total.value, '180000');
      assert.equal((await listedOfOld(id)).settlement_status, 'pending');

      await time.advance(60_000);
      const settlement = { paymentId: id, asset: TOKEN.asset, amount: '9820000', recipient: RECIPIENT };
      await command(gateway, (tx, at) =>
        insertPaymentSettlements(tx, [{ ...settlement, transactionHash: PAYOUT_HASH, at }]),
      );
      for (const node of [gateway, other]) {
        const answer = await node.call({ url: `/v1/payments/${id}`, headers: shop.headers });
        assert.equal(answer.json().settlement.successful.txId, PAYOUT_HASH);
      }
      const item = await listed(id);
      assert.deepEqual([item.settlement.settled, item.settlement.txHash], [true, PAYOUT_HASH]);
      assert.deepEqual([item.settledAt, item.lastUpdatedAt], Array(2).fill(new Date(time.clock.nowMs()).toISOString()));
    } finally {
      await other.stop();
    }
  });

  it('gives no receipt while the chain does not have the transaction', async () => {
    const id = await paid({ isHeld: false });
    const response = await gateway.call({ url: `/v1/payments/${id}/receipt`, headers: shop.headers });
    assert.deepEqual([response.statusCode, response.json().code], [400, 'invalid_state']);
    assert.match(response.json().message, /not in the chain at this moment/);
  });

  it('keeps the first settlement of a payment', async () => {
    const id = await paid({ isHeld: false });
    const settlement = { paymentId: id, asset: TOKEN.asset, amount: '1', recipient: RECIPIENT };
    await command(gateway, (tx, at) =>
      insertPaymentSettlements(tx, [{ ...settlement, transactionHash: PAYOUT_HASH, at }]),
    );
    assert.equal((await details(id)).settlement.successful.txId, TX_HASH);
  });
});
