import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Hex } from 'viem';
import { type Sandbox, startSandbox } from '../wallet-sdk/sandbox.ts';
import type { Json } from './list-test.ts';
import { payWith, setFees } from './sandbox-payer.ts';

const PAID = 19_990_000n;

describe('settlement on the real chain', () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await startSandbox();
  });
  after(() => sandbox?.stop());

  const detailsOf = (id: string, merchantId: string) =>
    sandbox.call<Json>('GET', `/v1/payments/${id}`, undefined, merchantId);
  async function listedOf(id: string, merchantId: string): Promise<Json> {
    const { data } = await sandbox.call<Json>('GET', '/v1/merchants/payments', undefined, merchantId);
    return data.find(({ paymentId }: Json) => paymentId === id);
  }

  it('pays the net amount to the destination and the fee to the operator, and shows both to the unit', async () => {
    const shop = await sandbox.createWallet({});
    const merchant = await sandbox.createMerchant(sandbox.assetOf('USDC'), shop.account);
    await setFees(sandbox, merchant.id, '--percentage', '0.4', '--fixed', 'iso4217/USD=14');
    const wallet = await sandbox.createWallet({ USDC: PAID });
    const { paymentId } = await sandbox.createPayment('iso4217/USD', '1999', {}, merchant.id);
    await payWith(sandbox, wallet, paymentId, 'USDC');

    // 0.4 % of 19.99 are 7.996 cents, of which 7 are taken, and 14 on top.
    const fee = 210_000n;
    assert.equal(await sandbox.balanceOf('USDC', wallet.address), 0n);
    assert.equal(await sandbox.balanceOf('USDC', shop.address), PAID - fee);
    const { receipt } = await sandbox.call<Json>('GET', `/v1/payments/${paymentId}/receipt`, undefined, merchant.id);
    assert.equal(await sandbox.balanceOf('USDC', receipt.feeAccount as Hex), fee, 'nobody else has paid a fee so far');

    const { info, settlement } = await detailsOf(paymentId, merchant.id);
    const unit = `caip19/${sandbox.assetOf('USDC')}`;
    const { destination, ...rest } = settlement.successful;
    assert.deepEqual(rest, { amount: { unit, value: (PAID - fee).toString() }, txId: info.txId });
    assert.match(destination, /^eip155:31337:0x/);
    const item = await listedOf(paymentId, merchant.id);
    assert.deepEqual(
      [item.settlement.settled, item.settlement.amount.value, item.settlement.txHash],
      [true, (PAID - fee).toString(), info.txId],
    );
    assert.match(item.settledAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const { total, fixed, percentage } = item.fees;
    assert.deepEqual([total.value, fixed.value, percentage], [fee.toString(), '140000', '0.4']);
  });

  it('keeps the money for a merchant without a destination, and does not call it settled', async () => {
    const shop = await sandbox.createWallet({});
    const merchant = await sandbox.createMerchant(sandbox.assetOf('USDC'), shop.account);
    const wallet = await sandbox.createWallet({ EURC: PAID });
    const { paymentId } = await sandbox.createPayment('iso4217/EUR', '1999', {}, merchant.id);
    await payWith(sandbox, wallet, paymentId, 'EURC');

    const { receipt } = await sandbox.call<Json>('GET', `/v1/payments/${paymentId}/receipt`, undefined, merchant.id);
    assert.notEqual(receipt.recipient, shop.address);
    assert.ok((await sandbox.balanceOf('EURC', receipt.recipient as Hex)) >= PAID);
    assert.equal((await detailsOf(paymentId, merchant.id)).settlement, null);
    const item = await listedOf(paymentId, merchant.id);
    assert.deepEqual([item.settlement, item.settledAt], [{ settled: false }, undefined]);
    assert.deepEqual([item.fees.total.value, item.fees.percentage], ['0', '0']);
  });
});
