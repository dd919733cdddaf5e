import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setFees } from '../../src/actions/parties/set-fees.ts';
import { openPayingShop, type PayingShop, refusal, result, USDC, USDT } from './paying-shop.ts';
import { openShop } from './shop.ts';

const FUNDS = { [USDC]: 100_000_000n };

describe('a fee that is raised above the price of an open payment', () => {
  let paying: PayingShop;
  before(async () => {
    paying = await openPayingShop();
  });
  after(() => paying.gateway.stop());

  /** An open payment of ten dollars, whose merchant pays so many cents for each payment from now on. */
  async function raised(meanwhile: (id: string) => Promise<unknown> = async () => {}) {
    const shop = await openShop(paying.gateway);
    const id = await paying.created({}, shop);
    const payer = paying.newPayer(FUNDS);
    const option = await paying.wallet.option(id, payer.account, USDC);
    await meanwhile(id);
    const setFixed = async (cents: string) => {
      const terms = { percentage: '0', fixed: [{ unit: 'iso4217/USD', value: cents }] };
      const payee = { merchantId: shop.merchant.id };
      await setFees(paying.gateway, { actor: 'test', payee, terms, startsAt: undefined });
      await paying.time.advance(5_000);
    };
    await setFixed('1001');
    return { id, payer, option, setFixed };
  }
  const address = (id: string, asset: string) => paying.wallet.post(id, 'address', { asset });
  const agent = (id: string) => paying.gateway.call({ url: `/x402/${id}` });

  it('takes nothing of it: no option, no signature, no address', async () => {
    const { id, payer, option, setFixed } = await raised();
    const signature = await payer.sign(option);
    const { options, info } = (await paying.wallet.options(id, [payer.account], '?includePaymentInfo=true')).json();
    assert.deepEqual(options, []);
    assert.deepEqual([info.accepted, info.stopped.reason], [[], 'below_fees']);
    assert.deepEqual(await refusal(paying.wallet.confirm(id, option.id, [result(signature)])), [400, 'invalid_state']);
    assert.deepEqual(await refusal(address(id, USDC)), [400, 'invalid_state']);
    assert.equal((await agent(id)).statusCode, 400);
    assert.deepEqual(await paying.items(id), []);
    // A fee that the price covers is taken, as at its creation.
    await setFixed('1000');
    assert.equal((await paying.wallet.listed(id, [payer.account])).length, 1);
  });

  it('leaves an address that was handed out before, and its fee, as they are', async () => {
    const { id } = await raised((each) => address(each, USDC));
    assert.equal((await address(id, USDC)).statusCode, 200);
    assert.deepEqual(await refusal(address(id, USDT)), [400, 'invalid_state']);
    assert.deepEqual(
      (await paying.items(id)).map(({ fee }) => fee),
      ['0'],
    );
    const answer = await agent(id);
    assert.equal(answer.statusCode, 402, answer.body);
    assert.equal(answer.json().accepts.length, 1);
  });
});
