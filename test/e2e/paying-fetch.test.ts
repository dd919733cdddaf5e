import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { expirePayments } from '../../src/actions/paying/expire-payments.ts';
import { startFlow } from '../../web/src/checkout/flow.ts';
import { progressOf } from '../../web/src/checkout/flow-state.ts';
import { paymentIn, standInPage } from './checkout-page.ts';
import {
  appWallet,
  DESTINATION,
  ETH,
  FEES,
  INTERMEDIATE,
  openPayingShop,
  type PayingShop,
  readBuild,
  refusal,
  result,
  SANDBOX,
  USDC,
  USDT,
  walletOn,
} from './paying-shop.ts';
import { happen, openShop, payer as walletOf } from './shop.ts';

const FUNDS = { [USDC]: 10_000_000n, [USDT]: 10_000_000n, [ETH]: 10n ** 18n };

describe('fetching the actions of an option', () => {
  let paying: PayingShop;
  before(async () => {
    paying = await openPayingShop({ page: standInPage() });
  });
  after(() => paying.gateway.stop());

  const nowS = () => paying.time.clock.nowMs() / 1000;
  async function chosen(asset: string, fields: object = {}) {
    const payer = paying.newPayer(FUNDS);
    const id = await paying.created(fields);
    return { payer, id, option: await paying.wallet.option(id, payer.account, asset) };
  }

  describe('for a signature', () => {
    it('gives the request that the option holds, and stores nothing', async () => {
      const { id, option } = await chosen(USDC);
      const response = await paying.wallet.fetch(id, option.id, option.actions[0]?.data.data);
      assert.equal(response.statusCode, 200);
      assert.deepEqual(response.json(), { actions: [{ type: 'walletRpc', data: readBuild(option) }] });
      assert.equal((await paying.items(id)).length, 0);
    });

    it('gives it also to a wallet that has lost the list since', async () => {
      const { id, option } = await chosen(USDC);
      const { actions } = (await paying.wallet.fetch(id, option.id, '')).json();
      assert.deepEqual(actions[0].data, readBuild(option));
    });

    it('takes no other data', async () => {
      const { id, option } = await chosen(USDC);
      const other = await chosen(USDC);
      for (const data of ['00', '{}', other.option.actions[0]?.data.data]) {
        const response = await paying.wallet.fetch(id, option.id, data);
        assert.deepEqual([response.statusCode, response.json().code], [400, 'params_validation']);
        assert.equal(response.json().issues[0].field, 'data');
      }
    });

    it('is refused where the option holds all there is to do', async () => {
      const { id, option } = await chosen(USDT);
      assert.deepEqual(await refusal(paying.wallet.fetch(id, option.id)), [400, 'params_validation']);
    });
  });

  describe('for a transaction in coin', () => {
    it('stores it before the answer: the payer may pay and never come back', async () => {
      const { id, option, payer } = await chosen(ETH, { expiresAt: nowS() + 900 });
      const response = await paying.wallet.fetch(id, option.id);
      assert.equal(response.statusCode, 200, response.body);
      const [action] = response.json().actions;
      assert.deepEqual(
        [action.type, action.data.chain_id, action.data.method],
        ['walletRpc', SANDBOX, 'eth_sendTransaction'],
      );
      const [call] = action.data.params;
      assert.deepEqual(Object.keys(call), ['from', 'to', 'value', 'data'], 'no nonce, gas or chain id');
      assert.equal(call.from, payer.address.toLowerCase());
      assert.equal(BigInt(call.value), BigInt(option.amount.value));

      const [item, ...others] = await paying.items(id);
      assert.equal(others.length, 0);
      assert.deepEqual(
        {
          state: item?.state,
          asset: item?.asset,
          account: item?.account,
          recipient: item?.recipient,
          feeAccount: item?.feeAccount,
          deadlineS: (item?.deadline.getTime() ?? 0) / 1000,
          signature: item?.signature,
          buyerName: item?.buyerName,
        },
        {
          state: 'offered',
          asset: ETH,
          account: payer.account,
          recipient: INTERMEDIATE,
          feeAccount: FEES,
          deadlineS: option.expiresAt,
          signature: null,
          buyerName: 'Test',
        },
      );
      assert.equal((await paying.payment(id)).native_deadline?.getTime(), (option.expiresAt ?? 0) * 1000);
      assert.equal(item?.quote?.pair, 'ETH/USD');
    });

    it('stores nothing twice, and keeps the latest deadline', async () => {
      const { id, option, payer } = await chosen(ETH, { expiresAt: nowS() + 900 });
      await paying.wallet.fetch(id, option.id);
      assert.equal((await paying.wallet.fetch(id, option.id)).statusCode, 200);
      assert.equal((await paying.items(id)).length, 1);
      await paying.time.advance(30_000);
      const later = await paying.wallet.option(id, payer.account, ETH);
      await paying.wallet.fetch(id, later.id);
      await paying.wallet.fetch(id, option.id);
      assert.equal((await paying.items(id)).length, 2);
      assert.equal((await paying.payment(id)).native_deadline?.getTime(), (later.expiresAt ?? 0) * 1000);
    });

    it('hands out so many to an account and for a payment, and more when those have run out', async () => {
      const { id, option, payer } = await chosen(ETH, { expiresAt: nowS() + 900 });
      const fetchAs = async ({ account }: { account: string }, times: number) => {
        const codes: number[] = [];
        for (let asked = 0; asked < times; asked += 1) {
          await paying.time.advance(1_000);
          const { id: optionId } = await paying.wallet.option(id, account, ETH);
          codes.push((await paying.wallet.fetch(id, optionId)).statusCode);
        }
        return codes;
      };
      assert.equal((await paying.wallet.fetch(id, option.id)).statusCode, 200);
      assert.deepEqual(new Set(await fetchAs(payer, 11)), new Set([200]));
      assert.deepEqual(await fetchAs(payer, 1), [429]);
      assert.equal((await paying.wallet.fetch(id, option.id)).statusCode, 200, 'one that was handed out before');
      for (let others = 0; others < 3; others += 1) {
        assert.deepEqual(new Set(await fetchAs(paying.newPayer(FUNDS), 12)), new Set([200]));
      }
      const late = paying.newPayer(FUNDS);
      const { id: optionId } = await paying.wallet.option(id, late.account, ETH);
      const refused = await paying.wallet.fetch(id, optionId);
      assert.deepEqual([refused.statusCode, refused.json().code], [429, 'rate_limited']);
      const waitS = Number(refused.headers['retry-after']);
      assert.ok(waitS > 0 && waitS <= 345, String(waitS));
      assert.equal((await paying.items(id)).length, 48);
      // The watcher ends them when a final block is later than their deadline.
      await paying.gateway.db.sql`update items set state = 'unpaid' where subject = ${id} and payer = ${payer.address}`;
      assert.equal((await paying.wallet.fetch(id, optionId)).statusCode, 200);
    });

    it('keeps the payment from expiring by the clock alone: past its time it reads processing', async () => {
      const { id, option } = await chosen(ETH);
      await paying.wallet.fetch(id, option.id);
      await paying.time.advance(300_000);
      await expirePayments(paying.gateway);
      assert.equal((await paying.wallet.status(id)).json().status, 'processing');
      assert.equal((await paying.payment(id)).status, 'requires_action');
      assert.deepEqual(await refusal(paying.wallet.fetch(id, option.id)), [410, 'payment_expired']);
    });

    it('makes the page say, past the expiry, that it looks for a payment', async () => {
      const { id, option } = await chosen(ETH);
      await paying.wallet.fetch(id, option.id);
      await paying.time.advance(300_000);
      const { payment, nowMs } = paymentIn((await paying.gateway.app.inject({ url: `/${id}` })).body);
      const { step } = startFlow(payment);
      assert.ok(step.at === 'confirming');
      assert.equal(progressOf(payment, step, nowMs), 'looking');
    });

    it('names the wallet that asked for it', async () => {
      const { id, option } = await chosen(ETH);
      await (await appWallet(paying.gateway)).fetch(id, option.id);
      assert.equal((await paying.items(id))[0]?.buyerName, 'Test wallet');
    });

    it('comes with the list, stored, for a client that never fetches and takes the first option', async () => {
      const { gateway, shop } = paying;
      const client = walletOn(gateway, { 'api-key': shop.secret, 'sdk-name': '@walletconnect/pay-cli' });
      const rich = paying.newPayer(FUNDS);
      const asked = await paying.created();
      const listed = await client.listed(asked, [rich.account]);
      assert.deepEqual(listed.at(-1)?.actions[0]?.type, 'build', 'coin that is not the first option is not taken');
      assert.equal((await paying.items(asked)).length, 0);

      const payer = paying.newPayer({ [ETH]: FUNDS[ETH] });
      const id = await paying.created();
      assert.equal((await paying.wallet.listed(id, [payer.account]))[0]?.actions[0]?.type, 'build');
      assert.equal((await paying.items(id)).length, 0, 'other clients fetch');
      const [option] = await client.listed(id, [payer.account]);
      assert.ok(option);
      const [action, ...others] = option.actions;
      assert.deepEqual([action?.type, others.length], ['walletRpc', 0]);
      assert.deepEqual(
        (await paying.items(id)).map(({ state }) => state),
        ['offered'],
        'it is known before it is sent',
      );
      assert.notEqual((await paying.payment(id)).native_deadline, null);
      const fetched = (await client.fetch(id, option.id)).json().actions;
      assert.deepEqual(fetched, option.actions);
      const hash = await payer.carryOut(action?.data as never);
      const confirmed = await client.confirm(id, option.id, [result(hash)]);
      assert.deepEqual([confirmed.statusCode, confirmed.json().status], [200, 'processing']);
    });

    it('is refused when there is too little time left for it', async () => {
      const { id, option } = await chosen(ETH);
      await paying.time.advance(241_000);
      assert.deepEqual(await refusal(paying.wallet.fetch(id, option.id)), [400, 'quote_expired']);
      assert.equal((await paying.payment(id)).native_deadline, null);
    });

    it('is refused when the merchant is paid elsewhere by now', async () => {
      const shop = await openShop(paying.gateway);
      const payer = paying.newPayer(FUNDS);
      const id = await paying.created({}, shop);
      const option = await paying.wallet.option(id, payer.account, ETH);
      await paying.gateway.call({
        method: 'POST',
        url: `/v1/merchants/${shop.merchant.id}/settlements/crypto`,
        headers: { ...shop.headers, 'idempotency-key': 'coin' },
        payload: { settlements: [{ asset: ETH, destination: `${SANDBOX}:${DESTINATION}` }] },
      });
      assert.deepEqual(await refusal(paying.wallet.fetch(id, option.id)), [400, 'quote_expired']);
      const again = await paying.wallet.option(id, payer.account, ETH);
      await paying.wallet.fetch(id, again.id);
      assert.equal((await paying.items(id))[0]?.recipient, DESTINATION);
    });

    it('is refused to an account that came onto the screening list', async () => {
      const { id, option, payer } = await chosen(ETH);
      paying.screened.add(payer.account);
      assert.deepEqual(await refusal(paying.wallet.fetch(id, option.id)), [400, 'sanctioned_user']);
      assert.equal((await paying.items(id)).length, 0);
    });
  });

  describe('is refused', () => {
    it('for options that are not of this payment, or not ours at all', async () => {
      const { id } = await chosen(USDC);
      const { option } = await chosen(USDC);
      for (const optionId of [option.id, 'nothing', `${option.id}A`, 'A'.repeat(5_000)]) {
        const response = await paying.wallet.fetch(id, optionId);
        assert.deepEqual([response.statusCode, response.json().code], [400, 'params_validation']);
        assert.match(response.json().message, /Option not found/);
      }
    });

    it('for bodies without an option or data', async () => {
      const { id, option } = await chosen(USDC);
      for (const body of [
        {},
        { optionId: option.id },
        { data: '' },
        { optionId: 1, data: '' },
        { optionId: '', data: '' },
      ]) {
        assert.deepEqual(await refusal(paying.wallet.post(id, 'fetch', body)), [400, 'params_validation']);
      }
    });

    it('after the payment has expired', async () => {
      const { id, option } = await chosen(USDC);
      await paying.time.advance(300_000);
      assert.deepEqual(await refusal(paying.wallet.fetch(id, option.id)), [410, 'payment_expired']);
      await expirePayments(paying.gateway);
      assert.deepEqual(await refusal(paying.wallet.fetch(id, option.id)), [410, 'payment_expired']);
    });

    for (const status of ['processing', 'succeeded', 'failed', 'cancelled'] as const) {
      it(`when the payment is ${status}`, async () => {
        const { id, option } = await chosen(ETH);
        if (status === 'cancelled') await paying.shop.cancel(id);
        else await happen(paying.gateway, id, 'confirmed', ...(status === 'processing' ? [] : [status]));
        assert.deepEqual(await refusal(paying.wallet.fetch(id, option.id)), [400, 'invalid_state']);
        assert.equal((await paying.items(id)).length, 0);
      });
    }

    it('when the network has no relayer any more, or is not served', async () => {
      const { settings } = paying.network();
      for (const asset of [USDC, ETH]) {
        const { id, option } = await chosen(asset);
        settings.hasRelayer = false;
        assert.deepEqual(await refusal(paying.wallet.fetch(id, option.id)), [409, 'executor_not_found']);
        settings.hasRelayer = true;
        settings.isConnected = false;
        assert.deepEqual(await refusal(paying.wallet.fetch(id, option.id)), [409, 'executor_not_found']);
        settings.isConnected = true;
      }
    });

    it('by no network that is merely out of reach: nothing has to be asked', async () => {
      const { id, option } = await chosen(USDC);
      const { control } = paying.network();
      control.goDown();
      assert.equal((await paying.wallet.fetch(id, option.id)).statusCode, 200);
      control.comeBack();
    });
  });

  describe('works, as all gateway routes do, by a link that a wallet encoded because it does not know the host:', () => {
    for (const [name, linkOf] of [
      ['the gateway URL', (id: string) => `http://localhost:8080/?pid=${id}`],
      ['the URL with the id as its path', (id: string) => `http://localhost:8080/${id}`],
      ['the plain URL', (id: string) => `http://localhost:8080/c/${id.slice(4)}`],
    ] as const) {
      it(name, async () => {
        const { payer, id } = await chosen(USDC);
        const link = encodeURIComponent(encodeURIComponent(linkOf(id)));
        const wallet = walletOf(paying.gateway, { 'api-key': paying.shop.secret });
        assert.equal((await wallet.info(link)).json().status, 'requires_action');
        assert.equal((await wallet.status(link)).json().status, 'requires_action');
        const option = await paying.wallet.option(link, payer.account, USDC);
        assert.equal((await paying.wallet.fetch(link, option.id)).statusCode, 200);
        const response = await paying.wallet.confirm(link, option.id, [result(await payer.sign(option))]);
        assert.equal(response.json().status, 'processing', response.body);
        const { id: other } = await chosen(USDC);
        const cancelled = await wallet.cancel(encodeURIComponent(encodeURIComponent(linkOf(other))));
        assert.equal(cancelled.json().paymentId, other);
      });
    }
  });
});
