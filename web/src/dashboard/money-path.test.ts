import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { moneyPath } from './money-path.ts';

const PAYER = '0xPayer';
const OPERATOR = '0xOperator';
const SHOP = '0xShop';
const receipt = { amount: '1000', fee: '10', payer: PAYER, collector: '0xC', recipient: OPERATOR, feeAccount: '0xF' };
const display = { assetSymbol: 'USDC', assetName: 'USD Coin', decimals: 6 };
const info = (value: string) => ({ optionAmount: { unit: 'caip19/x', value, display }, txId: '0x1' });
const settled = (account: string, value: string) => ({
  successful: { amount: { unit: 'caip19/x', value }, destination: `eip155:1:${account}`, txId: '0x2' },
});
const TRANSFERS = { transfers: [{ sender: '0xExchange' }] };
const SWEPT = { ...TRANSFERS, sweeps: [{ amount: '1000' }] };
const pathOf = (...args: Parameters<typeof moneyPath>) =>
  moneyPath(...args).map(({ who, account, units }) => `${who} ${account} ${units ?? ''}`.trim());

describe('the way of the money', () => {
  it('ends at the merchant, if the money went there directly', () => {
    const path = pathOf(
      { info: info('1000'), settlement: settled('0xshop', '990') },
      { receipt: { ...receipt, recipient: SHOP } },
    );
    assert.deepEqual(path, ['payer 0xPayer', 'collector 0xC 1000', 'merchant 0xShop 990', 'fee 0xF 10']);
  });

  it('never has the merchant beside an account of the operator, before and after the payout of a part', () => {
    const held = ['payer 0xPayer', 'collector 0xC 1000', 'held 0xOperator 990'];
    assert.deepEqual(pathOf({ info: info('1000'), settlement: null }, { receipt }), [...held, 'fee 0xF 10']);
    const paidOut = pathOf({ info: info('1000'), settlement: settled(SHOP, '333') }, { receipt });
    assert.deepEqual(paidOut, [...held, 'merchant 0xShop 333', 'fee 0xF 10']);
  });

  it('has the amount that counted at a deposit address, and no late money', () => {
    const deposit = { ...receipt, recipient: SHOP, arrived: '1500', ...SWEPT };
    const path = pathOf({ info: info('1000'), settlement: settled(SHOP, '990') }, { receipt: deposit });
    assert.deepEqual(path, ['payer 0xExchange', 'deposit 0xPayer 1000', 'merchant 0xShop 990', 'fee 0xF 10']);
  });

  for (const recipient of [SHOP, OPERATOR]) {
    it(`ends at the deposit address before the sweep to ${recipient}`, () => {
      const unswept = { ...receipt, recipient, arrived: '1000', ...TRANSFERS, sweeps: [] };
      const path = pathOf({ info: info('1000'), settlement: null }, { receipt: unswept });
      assert.deepEqual(path, ['payer 0xExchange', 'deposit 0xPayer 1000']);
    });
  }

  it('goes on to the account of the operator after the sweep, before the payout', () => {
    const path = pathOf({ info: info('1000'), settlement: null }, { receipt: { ...receipt, ...SWEPT } });
    assert.deepEqual(path, ['payer 0xExchange', 'deposit 0xPayer 1000', 'held 0xOperator 990', 'fee 0xF 10']);
  });
});
