import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { putEvents } from '../../src/store/chain/chain-events.ts';
import { openPayingShop, type PayingShop, result, USDC } from '../e2e/paying-shop.ts';

/** Each payment of the shop costs this much. */
const PRICE = 10_000_000n;

describe('the money of an account that has payments under way', () => {
  let paying: PayingShop;
  before(async () => {
    paying = await openPayingShop();
  });
  after(() => paying?.gateway.stop());

  /** Signs for a payment, and returns the confirmation of it. */
  async function signed(payer: ReturnType<PayingShop['newPayer']>) {
    const id = await paying.created();
    const option = await paying.wallet.option(id, payer.account, USDC);
    const results = [result(await payer.sign(option))];
    return { id, confirm: () => paying.wallet.confirm(id, option.id, results) };
  }

  it('pays as many payments as it covers, also when all are confirmed at the same moment', async () => {
    const payer = paying.newPayer({ [USDC]: 2n * PRICE });
    const all = [];
    for (let count = 0; count < 6; count += 1) all.push(await signed(payer));
    const answers = await Promise.all(all.map(({ confirm }) => confirm()));
    const codes = answers.map((answer) => (answer.statusCode === 200 ? 'paid' : answer.json().code)).sort();
    assert.deepEqual(codes, ['paid', 'paid', ...Array(4).fill('rate_limited')]);
    assert.match(answers.find(({ statusCode }) => statusCode === 429)?.json().message, /payments under way/);
    const refused = all[answers.findIndex(({ statusCode }) => statusCode === 429)];
    assert.deepEqual(await paying.items(refused?.id ?? ''), [], 'a refused signature is not stored');
  });

  it('is not offered a second time, and is offered again when the first payment is over', async () => {
    const payer = paying.newPayer({ [USDC]: PRICE });
    const first = await signed(payer);
    assert.equal((await first.confirm()).statusCode, 200);
    const second = await paying.created();
    const refused = await paying.wallet.options(second, [payer.account]);
    assert.deepEqual([refused.statusCode, refused.json().code], [429, 'rate_limited']);
    const [item] = await paying.items(first.id);
    await command(
      paying.gateway,
      (tx) => tx`update items set state = 'unpaid', signature = null where commitment = ${item?.commitment ?? ''}`,
    );
    assert.equal((await paying.wallet.options(second, [payer.account])).statusCode, 200);
  });

  it('is not counted twice: a payment that a block shows has left the balance already', async () => {
    const payer = paying.newPayer({ [USDC]: PRICE });
    const first = await signed(payer);
    assert.equal((await first.confirm()).statusCode, 200);
    const [item] = await paying.items(first.id);
    const event = {
      blockNumber: 1,
      blockHash: `0x${'cd'.repeat(32)}`,
      commitment: item?.commitment ?? '',
      transactionHash: `0x${'ef'.repeat(32)}`,
      logIndex: 0,
      type: 'paid',
      fields: {},
    } as const;
    const chainId = paying.network().chain.network.chainId;
    await command(paying.gateway, (tx, at) => putEvents(tx, chainId, [event], at));
    assert.equal((await (await signed(payer)).confirm()).statusCode, 200);
  });
});
