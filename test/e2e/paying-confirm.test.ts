import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { openOption } from '../../src/domain/option.ts';
import { putEvents } from '../../src/store/chain/chain-events.ts';
import { listEvents } from '../../src/store/events/events.ts';
import { createTestKey } from '../gateway.ts';
import { sealedByTest } from '../sealed.ts';
import { until } from '../until.ts';
import {
  appWallet,
  BASE_SEPOLIA,
  BASE_SEPOLIA_USDC,
  DESTINATION,
  ETH,
  EURC,
  FEES,
  type OptionBody,
  openPayingShop,
  type Payer,
  type PayingShop,
  refusal,
  result,
  SANDBOX,
  USDC,
  USDT,
  walletOn,
} from './paying-shop.ts';
import { EVENTS, happen, openShop, type Shop, TX_HASH } from './shop.ts';

const FUNDS = { [USDC]: 10_000_000n, [EURC]: 10_000_000n, [USDT]: 10_000_000n, [ETH]: 10n ** 18n };
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

describe('confirming a payment', () => {
  let paying: PayingShop;
  before(async () => {
    paying = await openPayingShop({ chainIds: [SANDBOX, BASE_SEPOLIA] });
  });
  after(() => paying.gateway.stop());

  const nowS = () => paying.time.clock.nowMs() / 1000;
  const statusOf = async (id: string) => (await paying.wallet.status(id)).json().status;

  interface Signed {
    readonly payer: Payer;
    readonly id: string;
    readonly option: OptionBody;
    readonly signature: string;
  }
  async function signed(fields: object = {}, asset = USDC, shop: Shop = paying.shop): Promise<Signed> {
    const payer = paying.newPayer(FUNDS);
    const id = await paying.created(fields, shop);
    return { payer, id, ...(await signedBy(payer, id, asset)) };
  }
  async function signedBy(payer: Payer, id: string, asset = USDC) {
    const option = await paying.wallet.option(id, payer.account, asset);
    return { option, signature: await payer.sign(option) };
  }
  const confirm = ({ id, option, signature }: Omit<Signed, 'payer'>, query = '') =>
    paying.wallet.confirm(id, option.id, [result(signature)], query);

  describe('by a signature', () => {
    it('makes it work that any node can carry out, in the move itself', async () => {
      const payment = await signed();
      const { id, payer, signature } = payment;
      const response = await confirm(payment);
      assert.equal(response.statusCode, 200, response.body);
      assert.deepEqual(response.json(), { status: 'processing', isFinal: false, pollInMs: 2000, info: null });

      const [item, ...others] = await paying.items(id);
      assert.equal(others.length, 0);
      assert.equal(item?.state, 'due');
      assert.deepEqual([item?.asset, item?.payer, item?.account], [USDC, payer.address, payer.account]);
      assert.deepEqual([item?.amount, item?.fee, item?.signature], ['10000000', '0', signature]);
      assert.equal(item?.hasCode, false);
      const [, event] = await listEvents(paying.gateway.db.sql, id);
      assert.equal(event?.type, 'payment.processing');
      assert.deepEqual(event?.evidence, {
        commitment: item?.commitment,
        screening: { hash: 'ab'.repeat(32), version: '7', date: '2026-02-28' },
      });
    });

    for (const [title, asset] of [
      ['an authorization in one form', USDC],
      ['an authorization in the other form', EURC],
      ['a Permit2 signature after its approval', USDT],
    ] as const) {
      it(`takes ${title}`, async () => {
        const payer = paying.newPayer(FUNDS);
        const id = await paying.created();
        const option = await paying.wallet.option(id, payer.account, asset);
        const requests = asset === USDT ? option.actions : (await paying.wallet.fetch(id, option.id)).json().actions;
        const results = [];
        for (const { data } of requests) results.push(result(await payer.carryOut(data)));
        const response = await paying.wallet.confirm(id, option.id, results);
        assert.equal(response.json().status, 'processing', response.body);
      });
    }

    it('takes results that a wallet packed into one entry, as the same request', async () => {
      const payer = paying.newPayer(FUNDS);
      const id = await paying.created();
      const option = await paying.wallet.option(id, payer.account, USDT);
      const values: string[] = [];
      for (const { data } of option.actions) values.push(await payer.carryOut(data));
      assert.equal(values.length, 2);
      const packed = await paying.wallet.confirm(id, option.id, [{ type: 'walletRpc', data: values }]);
      assert.equal(packed.json().status, 'processing', packed.body);
      await happen(paying.gateway, id, 'succeeded');
      for (const results of [[{ type: 'walletRpc', data: values }], values.map(result)]) {
        assert.equal((await paying.wallet.confirm(id, option.id, results)).json().status, 'succeeded');
      }
      assert.equal((await paying.items(id)).length, 1);
    });

    it('shows who pays, with what and with which wallet', async () => {
      const viaKey = await signed();
      await confirm(viaKey);
      const viaApp = await signed();
      const wallet = await appWallet(paying.gateway);
      await wallet.confirm(viaApp.id, viaApp.option.id, [result(viaApp.signature)]);
      for (const [{ id, payer }, name] of [
        [viaKey, 'Test'],
        [viaApp, 'Test wallet'],
      ] as const) {
        const { buyer } = (
          await paying.gateway.call({ url: `/v1/gateway/payment/${id}`, headers: { 'api-key': paying.shop.secret } })
        ).json();
        assert.deepEqual(buyer, {
          accountCaip10: payer.account,
          accountProviderName: name,
        });
        const { token_asset, token_value } = await paying.payment(id);
        assert.deepEqual([token_asset, token_value], [USDC, '10000000']);
      }
    });

    it('pays the merchant where it wants to be, less the fee in force', async () => {
      const shop = await openShop(paying.gateway);
      await settleIn(shop, DESTINATION);
      await feesOf(shop, '1.5');
      const payment = await signed({}, EURC, shop);
      assert.equal((await confirm(payment)).statusCode, 200);
      const [item] = await paying.items(payment.id);
      assert.deepEqual([item?.recipient, item?.feeAccount], [DESTINATION, FEES]);
      // The fee is 15 cents of 10 dollars at 1.10 dollars per euro, rounded down. The amount is rounded up to a cent.
      assert.deepEqual([item?.amount, item?.fee], ['9100000', '136363']);
      assert.equal(item?.quote?.pair, 'EUR/USD');
    });

    it('takes accounts with code, and notes it, because they travel alone', async () => {
      const { control } = paying.network();
      const payment = await signed();
      control.setCode(payment.payer.address, { is: 'wallet', owner: payment.payer.address });
      const response = await confirm(payment);
      assert.equal(response.json().status, 'processing', response.body);
      assert.equal((await paying.items(payment.id))[0]?.hasCode, true);
      const burner = await signed();
      control.setCode(burner.payer.address, { is: 'gas_burner' });
      assert.deepEqual(await refusal(confirm(burner)), [400, 'invalid_state']);
    });

    it('uses the wallet’s own name when its key has no label', async () => {
      const key = await createTestKey(paying.gateway, paying.shop.partner.id, { key: { label: '' } });
      for (const [sdkName, name] of [
        ['js-walletconnect-pay', 'js-walletconnect-pay'],
        ['', 'Wallet'],
      ] as const) {
        const payment = await signed();
        const wallet = walletOn(paying.gateway, { 'api-key': key.secret, 'sdk-name': sdkName });
        await wallet.confirm(payment.id, payment.option.id, [result(payment.signature)]);
        assert.equal((await paying.items(payment.id))[0]?.buyerName, name);
      }
    });

    it('reads v 0 and 1 as 27 and 28', async () => {
      const payment = await signed();
      const v = payment.signature.endsWith('1b') ? '00' : '01';
      const signature = payment.signature.slice(0, -2) + v;
      assert.equal((await confirm({ ...payment, signature })).json().status, 'processing');
    });
  });

  async function settleIn(shop: Shop, destination: string): Promise<void> {
    const response = await paying.gateway.call({
      method: 'POST',
      url: `/v1/merchants/${shop.merchant.id}/settlements/crypto`,
      headers: { ...shop.headers, 'idempotency-key': destination },
      payload: { settlements: [USDC, EURC].map((asset) => ({ asset, destination: `${SANDBOX}:${destination}` })) },
    });
    assert.equal(response.statusCode, 201, response.body);
  }

  /** In force from now on, and known to the node. */
  async function feesOf(shop: Shop, percentage: string): Promise<void> {
    const now = new Date(paying.time.clock.nowMs());
    await paying.gateway.db.sql`
      insert into fees (partner_id, merchant_id, percentage, fixed, starts_at, created_at)
      values (${shop.partner.id}, ${shop.merchant.id}, ${percentage}, '[]', ${now}, ${now})`;
    await paying.time.advance(5_000);
  }

  describe('again', () => {
    it('returns the current status of the payment, whatever it is', async () => {
      const payment = await signed();
      await confirm(payment);
      assert.equal((await confirm(payment)).json().status, 'processing');
      await happen(paying.gateway, payment.id, 'succeeded');
      const { status, isFinal, info } = (await confirm(payment)).json();
      assert.deepEqual([status, isFinal, info.txId], ['succeeded', true, TX_HASH]);
      assert.equal((await paying.items(payment.id)).length, 1);
    });

    it('gives it also after the authorization ran out unused', async () => {
      const payment = await signed();
      await confirm(payment);
      await paying.time.advance(700_000);
      const finalBlockAtMs = paying.time.clock.nowMs();
      const ended = (await paying.items(payment.id)).map(({ key }) => {
        return { key, state: 'unpaid', reason: 'ran_out' } as const;
      });
      const outcome = await paying.gateway.movePayment({
        paymentId: payment.id,
        event: { type: 'expired', proof: { finalBlockAtMs } },
        actor: 'test',
        evidence: {},
        items: { ended },
      });
      assert.ok(outcome.ok);
      assert.deepEqual((await confirm(payment)).json().status, 'expired');
      const other = await paying.wallet.confirm(payment.id, payment.option.id, [result(`0x${'11'.repeat(65)}`)]);
      assert.deepEqual([other.statusCode, other.json().code], [410, 'payment_expired']);
    });

    it('at the same time makes one payment of any number of requests', async () => {
      const payment = await signed();
      const responses = await Promise.all(Array.from({ length: 8 }, () => confirm(payment)));
      for (const response of responses) assert.equal(response.json().status, 'processing', response.body);
      assert.equal((await paying.items(payment.id)).length, 1);
    });

    it('by the same payer with another option throws the new signature away', async () => {
      const first = await signed();
      const second = await signedBy(first.payer, first.id, EURC);
      paying.network(BASE_SEPOLIA).control.setBalance(first.payer.address, BASE_SEPOLIA_USDC, 10_000_000n);
      const elsewhere = { ...first.payer, account: `${BASE_SEPOLIA}:${first.payer.address}` };
      const third = await signedBy(elsewhere, first.id, BASE_SEPOLIA_USDC);
      await confirm(first);
      for (const other of [second, third]) {
        assert.equal((await confirm({ id: first.id, ...other })).json().status, 'processing');
      }
      assert.equal((await paying.items(first.id)).length, 1);
    });

    it('by another payer is refused, and only one of them pays', async () => {
      const first = await signed();
      const second = await signedBy(paying.newPayer(FUNDS), first.id);
      await confirm(first);
      assert.deepEqual(await refusal(confirm({ id: first.id, ...second })), [400, 'invalid_state']);
      const third = await signed();
      const fourth = await signedBy(paying.newPayer(FUNDS), third.id);
      const codes = (await Promise.all([confirm(third), confirm({ id: third.id, ...fourth })])).map(
        ({ statusCode }) => statusCode,
      );
      assert.deepEqual(codes.sort(), [200, 400]);
      assert.equal((await paying.items(third.id)).length, 1);
    });
  });

  describe('a payment that is over', () => {
    for (const status of ['succeeded', 'failed', 'cancelled'] as const) {
      it(`answers ${status}, to every option and every result`, async () => {
        const payment = await signed();
        if (status === 'cancelled') await paying.shop.cancel(payment.id);
        else await happen(paying.gateway, payment.id, 'confirmed', status);
        for (const body of [
          { optionId: payment.option.id, results: [result(payment.signature)] },
          { optionId: payment.option.id, results: [] },
          { optionId: 'nothing', results: ['nonsense'] },
        ]) {
          const response = await paying.wallet.post(payment.id, 'confirm', body);
          assert.equal(response.statusCode, 200, response.body);
          const { info, ...answer } = response.json();
          assert.deepEqual(answer, { status, isFinal: true, pollInMs: null });
          assert.equal(info === null, status !== 'succeeded');
        }
      });
    }

    it('answers 410 when it has expired, also before anybody swept it', async () => {
      const payment = await signed();
      await paying.time.advance(300_000);
      assert.deepEqual(await refusal(confirm(payment)), [410, 'payment_expired']);
      const unknown = paying.wallet.confirm(payment.id, 'nothing', []);
      assert.deepEqual(await refusal(unknown), [410, 'payment_expired']);
      assert.equal((await paying.items(payment.id)).length, 0);
    });
  });

  describe('is refused for its form', () => {
    it('when the option is unknown, altered, or of another payment', async () => {
      const payment = await signed();
      const other = await signed();
      for (const optionId of ['nothing', other.option.id, `${payment.option.id}A`]) {
        const response = await paying.wallet.confirm(payment.id, optionId, [result(payment.signature)]);
        assert.deepEqual([response.statusCode, response.json().code], [400, 'params_validation']);
        assert.match(response.json().message, /Option not found/);
      }
    });

    it('when results are missing, extra, swapped or of the wrong type', async () => {
      const { id, option, signature } = await signed();
      const good = result(signature);
      const bad: readonly (readonly unknown[])[] = [
        [],
        [good, good],
        [result(TX_HASH)],
        [result(42)],
        [result(null)],
        [result({ signature })],
        [{ type: 'walletRpc', data: [] }],
        [{ type: 'walletRpc', data: [signature, signature] }],
        [{ type: 'build', data: [signature] }],
        [{ data: [signature] }],
        [signature],
        [null],
        [result('')],
        [result('0x')],
        [result(signature.slice(2))],
        [result(`${signature}0`)],
      ];
      for (const results of bad) {
        const response = await paying.wallet.confirm(id, option.id, results);
        assert.deepEqual(
          [response.statusCode, response.json().code],
          [422, 'params_validation'],
          JSON.stringify(results),
        );
      }
      const permit = await paying.wallet.option(id, option.account, USDT);
      for (const results of [[good], [good, result(TX_HASH)], [result(TX_HASH)]]) {
        assert.deepEqual(await refusal(paying.wallet.confirm(id, permit.id, results)), [422, 'params_validation']);
      }
      assert.equal(await statusOf(id), 'requires_action');
    });

    it('when there is no list of results, or no option', async () => {
      const { id, option } = await signed();
      for (const body of [{}, { optionId: option.id }, { results: [] }, { optionId: option.id, results: 'x' }]) {
        assert.deepEqual(await refusal(paying.wallet.post(id, 'confirm', body)), [400, 'params_validation']);
      }
      const deep = `{"optionId":"x","results":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
      assert.deepEqual(await refusal(paying.wallet.post(id, 'confirm', deep)), [400, 'invalid_params']);
    });

    it('but not for extra fields of older clients', async () => {
      const { id, option, signature } = await signed();
      const response = await paying.wallet.post(id, 'confirm', {
        optionId: option.id,
        results: [result(signature)],
        collectedData: { fields: [{ id: 'fullName', value: 'A' }] },
        excludeFromRelayer: null,
      });
      assert.equal(response.json().status, 'processing', response.body);
    });
  });

  describe('is refused for its signature', () => {
    it('when it is another payer’s, or of another payment, amount, token or chain', async () => {
      const payment = await signed();
      const { payer, id } = payment;
      paying.network(BASE_SEPOLIA).control.setBalance(payer.address, BASE_SEPOLIA_USDC, 10_000_000n);
      const elsewhere = { ...payer, account: `${BASE_SEPOLIA}:${payer.address}` };
      const foreign = [
        await paying.newPayer().sign(payment.option),
        (await signedBy(payer, await paying.created())).signature,
        (await signedBy(payer, await paying.created({ amount: { unit: 'iso4217/USD', value: '1' } }))).signature,
        (await signedBy(payer, id, EURC)).signature,
        (await signedBy(elsewhere, id, BASE_SEPOLIA_USDC)).signature,
      ];
      for (const signature of foreign) {
        const response = await confirm({ ...payment, signature });
        assert.deepEqual([response.statusCode, response.json().code], [422, 'params_validation'], response.body);
      }
      assert.equal(await statusOf(id), 'requires_action');
      assert.equal((await confirm(payment)).json().status, 'processing', 'the right one is still taken');
    });

    it('when it is cut, has a high s, a wrong v, or is wrapped for an account that is not there', async () => {
      const payment = await signed();
      const [r, s, v] = [
        payment.signature.slice(2, 66),
        payment.signature.slice(66, 130),
        payment.signature.slice(130),
      ] as const;
      const high = (CURVE_ORDER - BigInt(`0x${s}`)).toString(16).padStart(64, '0');
      for (const signature of [
        `0x${r}${s}`,
        `0x${r}${high}${v === '1b' ? '1c' : '1b'}`,
        `0x${r}${s}1d`,
        `0x${r}${s}${v}00`,
        `${payment.signature}${'6492'.repeat(16)}`,
        `0x${'00'.repeat(65)}`,
        `0x${'ff'.repeat(65)}`,
      ]) {
        assert.deepEqual(await refusal(confirm({ ...payment, signature })), [422, 'params_validation'], signature);
      }
    });
  });

  describe('is refused as expired', () => {
    it('after the end of a rate', async () => {
      const payment = await signed({ expiresAt: nowS() + 900 }, EURC);
      await paying.time.advance(59_000);
      const fresh = await signedBy(payment.payer, payment.id, EURC);
      await paying.time.advance(1_000);
      assert.deepEqual(await refusal(confirm(payment)), [400, 'quote_expired']);
      assert.equal((await confirm({ id: payment.id, ...fresh })).json().status, 'processing');
    });

    it('with less than a minute left to send it', async () => {
      const payment = await signed({ expiresAt: nowS() + 86_400 });
      await paying.time.advance((3_900 - 59) * 1000);
      assert.deepEqual(await refusal(confirm(payment)), [400, 'quote_expired']);
      assert.equal((await confirm({ id: payment.id, ...(await signedBy(payment.payer, payment.id)) })).statusCode, 200);
    });

    it('when the merchant wants to be paid elsewhere by now', async () => {
      const shop = await openShop(paying.gateway);
      const payment = await signed({}, USDC, shop);
      await settleIn(shop, DESTINATION);
      assert.deepEqual(await refusal(confirm(payment)), [400, 'quote_expired']);
      assert.equal((await confirm({ id: payment.id, ...(await signedBy(payment.payer, payment.id)) })).statusCode, 200);
    });

    it('when the fee has changed', async () => {
      const shop = await openShop(paying.gateway);
      const payment = await signed({}, USDC, shop);
      await feesOf(shop, '1');
      assert.deepEqual(await refusal(confirm(payment)), [400, 'quote_expired']);
    });

    it('when the asset is no longer taken', async () => {
      const payment = await signed();
      const { settings } = paying.network();
      settings.withheld.add(USDC);
      assert.deepEqual(await refusal(confirm(payment)), [400, 'quote_expired']);
      settings.withheld.clear();
    });

    it('with another code when the network has no relayer any more', async () => {
      const payment = await signed();
      const { settings } = paying.network();
      settings.hasRelayer = false;
      assert.deepEqual(await refusal(confirm(payment)), [409, 'executor_not_found']);
      settings.hasRelayer = true;
      assert.equal((await confirm(payment)).statusCode, 200);
    });
  });

  describe('is refused by the state on chain', () => {
    it('of the balance, in words that wallets look for', async () => {
      const payment = await signed();
      paying.network().control.setBalance(payment.payer.address, USDC, 9_999_999n);
      const response = await confirm(payment);
      assert.deepEqual([response.statusCode, response.json().code], [400, 'invalid_state']);
      assert.match(response.json().message, /insufficient funds/);
      assert.equal(await statusOf(payment.id), 'requires_action');
      paying.network().control.setBalance(payment.payer.address, USDC, 10_000_000n);
      assert.equal((await confirm(payment)).statusCode, 200);
    });

    it('of the allowance, whatever hash the approval is said to have', async () => {
      const payer = paying.newPayer(FUNDS);
      const id = await paying.created();
      const option = await paying.wallet.option(id, payer.account, USDT);
      const [approve, sign] = option.actions;
      assert.ok(approve && sign);
      const signature = result(await payer.carryOut(sign.data));
      const early = await paying.wallet.confirm(id, option.id, [result(TX_HASH), signature]);
      assert.deepEqual([early.statusCode, early.json().code], [400, 'invalid_state']);
      await payer.carryOut(approve.data);
      const other = await paying.wallet.confirm(id, option.id, [result(TX_HASH), signature]);
      assert.equal(other.json().status, 'processing', other.body);
    });

    it('of an authorization that was cancelled', async () => {
      const payment = await signed();
      const opened = openOption(paying.gateway.optionKeys, payment.id, payment.option.id);
      assert.ok(opened);
      const { control, chain } = paying.network();
      control.cancelAuthorization(sealedByTest(chain.payerSide, opened.item));
      const response = await confirm(payment);
      assert.deepEqual([response.statusCode, response.json().code], [400, 'invalid_state']);
    });

    it('of an authorization that a stranger used, until it is known that this paid the payment', async () => {
      const payment = await signed();
      const { control, chain } = paying.network();
      const opened = openOption(paying.gateway.optionKeys, payment.id, payment.option.id);
      assert.ok(opened);
      const item = sealedByTest(chain.payerSide, opened.item);
      const commitment = chain.payerSide.commitmentOf(item);
      control.relayAsStranger([{ item, commitment, signature: payment.signature, hasCode: false }]);
      assert.deepEqual(await refusal(confirm(payment)), [400, 'invalid_state']);
      const [event] = (await chain.reader.events(0, (await chain.reader.head()).number)).filter(
        (one) => one.commitment === commitment,
      );
      assert.equal(event?.type, 'paid');
      const { block, transactionHash, logIndex } = event;
      const reported = { commitment, transactionHash, logIndex, type: 'paid', fields: {} } as const;
      await command(paying.gateway, (tx, at) =>
        putEvents(tx, SANDBOX, [{ ...reported, blockNumber: block.number, blockHash: block.hash }], at),
      );
      assert.equal((await confirm(payment)).json().status, 'processing');
      assert.equal((await paying.items(payment.id))[0]?.commitment, commitment);
    });

    it('of a payer the token refuses, and of a token that is paused', async () => {
      const { control } = paying.network();
      const [one, two] = [await signed(), await signed({}, EURC)];
      control.setBlacklisted(one.payer.address, USDC);
      assert.deepEqual(await refusal(confirm(one)), [400, 'invalid_state']);
      control.setPaused(EURC);
      assert.deepEqual(await refusal(confirm(two)), [400, 'invalid_state']);
      control.setPaused(EURC, false);
      assert.equal((await confirm(two)).statusCode, 200);
    });

    it('but not by its silence: that is 503, and the next try is taken', async () => {
      const payment = await signed();
      const { control } = paying.network();
      control.failNext('judge');
      const response = await confirm(payment);
      assert.deepEqual([response.statusCode, response.json().code], [503, 'internal_error']);
      assert.equal(response.headers['retry-after'], '1');
      assert.doesNotMatch(response.body, /eip155|reach of|http/);
      assert.equal(await statusOf(payment.id), 'requires_action');
      assert.equal((await confirm(payment)).json().status, 'processing');
    });

    it('is refused to a payer who came onto the screening list', async () => {
      const payment = await signed();
      paying.screened.add(payment.payer.account);
      assert.deepEqual(await refusal(confirm(payment)), [400, 'sanctioned_user']);
      assert.equal(await statusOf(payment.id), 'requires_action');
    });
  });

  describe('with maxPollMs', () => {
    it('holds the answer until the status changes', async () => {
      const payment = await signed();
      const answer = confirm(payment, '?maxPollMs=20000');
      await until('it is held', () => paying.gateway.longPolls.held === 1);
      const moved = { paymentId: payment.id, event: EVENTS.succeeded, actor: 'test', evidence: {} };
      await paying.gateway.movePayment(moved);
      assert.equal((await answer).json().status, 'succeeded');
    });

    it('answers at once when there is nothing to wait for, and refuses an invalid time', async () => {
      const payment = await signed();
      await happen(paying.gateway, payment.id, 'confirmed', 'failed');
      assert.equal((await confirm(payment, '?maxPollMs=20000')).json().status, 'failed');
      assert.deepEqual(await refusal(confirm(payment, '?maxPollMs=-1')), [400, 'params_validation']);
    });
  });

  it('answers 404 for a payment that is not there', async () => {
    const response = paying.wallet.confirm('pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6', 'x', []);
    assert.deepEqual(await refusal(response), [404, 'payment_not_found']);
  });
});
