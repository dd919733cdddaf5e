import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { reconcile } from '../../src/actions/books/audit/reconcile.ts';
import { rebuild } from '../../src/actions/books/restore/rebuild.ts';
import { addFloat } from '../../src/actions/outgoing/float/add-float.ts';
import type { Chains } from '../../src/chains/chains.ts';
import { createEvmChain } from '../../src/chains/evm/evm-chain.ts';
import { createLocalSigner } from '../../src/chains/evm/local-signer.ts';
import { OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { refundIdOf } from '../../src/domain/ids.ts';
import { signPath } from '../../src/domain/sign-code.ts';
import { sandboxRates } from '../../src/rates/sandbox-rates.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_KEYS } from '../../src/sandbox/genesis.ts';
import type { LocalEvm } from '../../src/sandbox/local-evm.ts';
import { createSandboxEvm } from '../../src/sandbox/sandbox-evm.ts';
import { one } from '../../src/store/plumbing/database.ts';
import { startJobs } from '../../src/workers/loop.ts';
import { payingOutJobs } from '../../src/workers/paying-out.ts';
import { startRelaying } from '../../src/workers/relaying.ts';
import { startWatching } from '../../src/workers/watching.ts';
import { createTestKey, freshKey, startTestGateway, type TestGateway } from '../gateway.ts';
import { ONLY_LONG } from '../long.ts';
import { assetsOf, findNetwork } from '../registry.ts';
import { until } from '../until.ts';
import type { Json } from './list-test.ts';
import { ETH, readBuild, refusal, result, SANDBOX, USDC, USDT, type Wallet, walletOn } from './paying-shop.ts';
import { openShop, type Shop } from './shop.ts';

const TOKEN = parseAbi([
  'function transfer(address to, uint256 amount)',
  'function balanceOf(address) view returns (uint256)',
]);
const SCRIPT = join(import.meta.dirname, '../../docs/verify-receipt.mjs');
/** A filter that keeps everything, and makes the sums come from the payments instead of the totals. */
const EVER = '?startTs=2020-01-01T00:00:00Z';
const WITHIN = { withinMs: 60_000 };
/** Creates a contract whose code reverts, whoever calls it. */
const REVERTING = '0x6460006000fd6000526005601bf3';

/** The whole gateway with its workers, on a real EVM with a real Collector. */
describe('refunds and payouts on a real chain', () => {
  let evm: LocalEvm;
  let gateway: TestGateway;
  let shop: Shop;
  let wallet: Wallet;
  let chains: Chains;
  let rpcUrl: string;
  const stops: (() => unknown)[] = [];
  const payer = privateKeyToAccount(SANDBOX_KEYS.payer);
  const account = `${SANDBOX}:${payer.address}`;

  before(async () => {
    // Each block is a second later than the one before it. With more of them the chain would be ahead of all deadlines.
    evm = await createSandboxEvm({ mining: { intervalMs: 100, idleMs: 1_000 } });
    const server = createServer(async (request, response) => {
      response.setHeader('content-type', 'application/json').end(await evm.rpc(await text(request)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const network = findNetwork(SANDBOX);
    if (network === undefined) throw new Error('The sandbox is not a known network');
    rpcUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const chain = createEvmChain({ world: systemWorld, network, endpoints: [rpcUrl] });
    const connected = {
      chain,
      relayers: [createLocalSigner(SANDBOX_KEYS.relayer)],
      feeAccount: SANDBOX_ACCOUNTS.feeAccount,
      intermediateAccount: SANDBOX_ACCOUNTS.intermediate,
      intermediateSigner: createLocalSigner(SANDBOX_KEYS.intermediate),
      payable: () => assetsOf(SANDBOX).map(({ id }) => id),
      problems: () => [],
    };
    chains = { find: (id) => (id === SANDBOX ? connected : undefined), list: () => [connected] };
    gateway = await startTestGateway({ chains, rates: sandboxRates() });
    shop = await openShop(gateway);
    wallet = walletOn(gateway, { 'api-key': shop.secret });
    const workers = [startRelaying(gateway), startWatching(gateway), startJobs(gateway, payingOutJobs(gateway))];
    stops.push(
      () => Promise.all(workers.map((stop) => stop())),
      () => gateway.stop(),
      () => chain.close(),
      () => server.closeAllConnections(),
      () => server.close(),
      () => evm.close(),
    );
  });
  after(async () => {
    for (const stop of stops) await stop();
  });

  async function pay(asset: string, created = shop.created()): Promise<string> {
    const { paymentId: id } = await created;
    const option = await wallet.option(id, account, asset);
    const request = option.actions[0]?.type === 'build' ? readBuild(option) : option.actions.at(-1)?.data;
    const signature = await payer.signTypedData(JSON.parse(String(request?.params[1])));
    const confirmed = await wallet.confirm(id, option.id, [result(signature)]);
    assert.equal(confirmed.statusCode, 200, confirmed.body);
    await until('it succeeds', async () => (await shop.status(id)).json().status === 'succeeded', WITHIN);
    return id;
  }

  async function payCoin(): Promise<string> {
    const { paymentId: id } = await shop.created();
    const option = await wallet.option(id, account, ETH);
    const [action] = (await wallet.fetch(id, option.id)).json().actions;
    const { to, value, data } = action.data.params[0] as { to: Hex; value: Hex; data: Hex };
    const hash = await send({ to, data, value: BigInt(value) });
    assert.equal((await wallet.confirm(id, option.id, [result(hash)])).statusCode, 200);
    await until('it succeeds', async () => (await shop.status(id)).json().status === 'succeeded', WITHIN);
    return id;
  }

  /** Lets the script of the documentation verify the receipt, as a merchant would. */
  async function checkReceipt(id: string, refunds: number): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), 'till-refunds-'));
    const [receipt, keys] = [join(folder, 'receipt.json'), join(folder, 'keys.json')];
    const signed = await read(`/v1/payments/${id}/receipt`);
    await writeFile(receipt, JSON.stringify(signed));
    await writeFile(keys, JSON.stringify(await read('/.well-known/till-receipts.json')));
    const argv = [SCRIPT, receipt, '--key', keys, '--rpc', rpcUrl];
    const { stdout } = await promisify(execFile)(process.execPath, argv, { timeout: 30_000 });
    assert.equal(stdout.match(/^refunded /gm)?.length, refunds);
    // The signature covers the refunds.
    const [first, ...others] = signed.receipt.refunds;
    await writeFile(receipt, JSON.stringify({ ...signed, receipt: { ...signed.receipt, refunds: others } }));
    await assert.rejects(promisify(execFile)(process.execPath, argv), /the signature is not of this receipt/);
    await writeFile(receipt, JSON.stringify({ ...signed, receipt: { ...signed.receipt, refunds: [first, first] } }));
    await assert.rejects(promisify(execFile)(process.execPath, argv), /refused/);
    await rm(folder, { recursive: true });
  }

  const refund = (paymentId: string, headers: Record<string, string> = {}) =>
    gateway.app.inject({
      method: 'POST',
      url: '/v1/refunds',
      headers: { ...shop.headers, 'content-type': 'application/json', ...headers },
      payload: { paymentId },
    });
  /** A refund with further fields. */
  const refundPart = (payload: object, headers: Record<string, string> = { 'idempotency-key': freshKey() }) =>
    gateway.call({ method: 'POST', url: '/v1/refunds', headers: { ...shop.headers, ...headers }, payload });
  const read = async (url: string) => (await gateway.call({ url, headers: shop.headers })).json();
  const details = async (id: string) =>
    (await gateway.app.inject({ url: `/v1/payments/${id}`, headers: shop.headers })).json();
  const isRefunded = (id: string) =>
    until('it is refunded', async () => (await details(id)).refund?.status === 'refunded', WITHIN);
  /** Refunds all that is left, so that later tests find nothing held and no revenue. */
  async function refundRest(id: string): Promise<void> {
    assert.equal((await refund(id)).statusCode, 200);
    const isOver = async () => (await details(id)).refunds.every(({ status }: Json) => status === 'refunded');
    await until('all parts are refunded', isOver, WITHIN);
  }
  const balance = async (owner: string, asset: string) => {
    const to = asset.slice(asset.lastIndexOf(':') + 1);
    const data = encodeFunctionData({ abi: TOKEN, functionName: 'balanceOf', args: [owner as Hex] });
    return BigInt((await evm.request({ method: 'eth_call', params: [{ to, data }, 'latest'] })) as string);
  };
  /** The merchant sends tokens to the intermediate account. */
  const transfer = (asset: string, units: bigint) =>
    send({
      to: asset.slice(asset.lastIndexOf(':') + 1) as Hex,
      data: encodeFunctionData({ abi: TOKEN, functionName: 'transfer', args: [SANDBOX_ACCOUNTS.intermediate, units] }),
    });
  async function send(call: { to?: Hex; data: Hex; value?: bigint }, from = payer): Promise<string> {
    const count = await evm.request({ method: 'eth_getTransactionCount', params: [from.address, 'pending'] });
    const raw = await from.signTransaction({
      type: 'eip1559',
      chainId: 31337,
      nonce: Number(count),
      gas: 200_000n,
      maxFeePerGas: 100_000_000_000n,
      maxPriorityFeePerGas: 1_000_000_000n,
      ...call,
    });
    const hash = (await evm.request({ method: 'eth_sendRawTransaction', params: [raw] })) as string;
    const receipt = () => evm.request({ method: 'eth_getTransactionReceipt', params: [hash] });
    await until('it is mined', async () => (await receipt()) !== null, WITHIN);
    return hash;
  }

  for (const [name, asset] of [
    ['USDC, by authorization', USDC],
    ['USDT, by Permit2', USDT],
  ] as const) {
    it(`gives a held payment back, once: ${name}`, async () => {
      const before = await balance(payer.address, asset);
      const id = await pay(asset);
      assert.equal((await details(id)).refund, undefined);
      const answers = await Promise.all(Array.from({ length: 10 }, () => refund(id)));
      const answered = answers.map(({ statusCode, json }) => json().code ?? `${statusCode} ${json().paymentId}`).sort();
      assert.deepEqual(answered, [`200 ${id}`, ...Array(9).fill('already_refunded')]);
      await isRefunded(id);
      assert.equal(await balance(payer.address, asset), before);
      const shown = (await details(id)).refund;
      assert.match(shown.txId, /^0x[0-9a-f]{64}$/);
      assert.equal(shown.amount.value, '10000000');
      assert.equal(shown.amount.unit, `caip19/${asset}`);
      const list = await gateway.app.inject({ url: '/v1/merchants/payments', headers: shop.headers });
      const item = list.json().data.find(({ paymentId }: { paymentId: string }) => paymentId === id);
      assert.deepEqual(item.refund, shown);
      assert.equal(item.status, 'succeeded');
    });
  }

  it('gives coin back by a transaction of the intermediate account’s own', async () => {
    const id = await payCoin();
    const { value } = (await details(id)).info.optionAmount;
    const coins = () => evm.request({ method: 'eth_getBalance', params: [payer.address, 'latest'] });
    const before = BigInt((await coins()) as string);
    assert.equal((await refund(id)).statusCode, 200);
    await isRefunded(id);
    assert.equal(BigInt((await coins()) as string), before + BigInt(value));
  });

  it('gives a payment back in three parts, each way to pay, with receipts that verify', ONLY_LONG, async () => {
    const coins = await payCoin();
    for (const [asset, id] of [
      [USDC, await pay(USDC)],
      [USDT, await pay(USDT)],
      [ETH, coins],
    ] as const) {
      const paidUnits = BigInt((await details(id)).info.optionAmount.value);
      const first = await refundPart({ paymentId: id, amount: { unit: 'iso4217/USD', value: '333' }, reason: 'a cup' });
      assert.equal(first.statusCode, 200, first.body);
      const answered = first.json();
      assert.deepEqual(
        [answered.paymentId, answered.status, answered.priceAmount.value, answered.reason, answered.destination],
        [id, 'requested', '333', 'a cup', account],
      );
      assert.equal(BigInt(answered.amount.value), (paidUnits * 333n) / 1_000n);
      const second = await refundPart({ paymentId: id, amount: { unit: `caip19/${asset}`, value: '1' } });
      const third = await refundPart({ paymentId: id });
      assert.deepEqual(
        [second, third].map((answer) => answer.statusCode),
        [200, 200],
      );
      const ids = [first, second, third].map((answer) => answer.json().refundId);
      const isOver = async (refundId: string) => (await read(`/v1/refunds/${refundId}`)).status === 'refunded';
      for (const refundId of ids) await until('the part is refunded', () => isOver(refundId), WITHIN);
      const shown = await details(id);
      assert.equal(shown.refund, undefined);
      assert.deepEqual(
        shown.refunds.map(({ refundId }: { refundId: string }) => refundId),
        ids,
      );
      const sum = shown.refunds.reduce((total: bigint, { amount }: Json) => total + BigInt(amount.value), 0n);
      assert.equal(sum, paidUnits);
      const list = await read(`/v1/refunds?paymentId=${id}&status=refunded&limit=2`);
      assert.deepEqual(
        list.refunds.map(({ refundId }: Json) => refundId),
        ids.slice(1).toReversed(),
      );
      const rest = await read(`/v1/refunds?paymentId=${id}&status=refunded&limit=2&cursor=${list.nextCursor}`);
      assert.deepEqual([rest.refunds[0].refundId, rest.nextCursor], [ids[0], null]);
      const payments = await read('/v1/merchants/payments');
      const listed = payments.data.find(({ paymentId }: Json) => paymentId === id);
      const withoutWait = ({ waitingFor: _, ...refund }: Json) => refund;
      assert.deepEqual(listed.refunds, shown.refunds.map(withoutWait));
      await checkReceipt(id, 3);
    }
    const report = await reconcile(gateway, one(chains.list()), { from: 0 });
    // Everything is given back: the account has what the genesis block gave it, which is in no books.
    const isGenesis = ({ message }: { message: string }) => /holds 1000000000\.00 .* it should be 0\.00/.test(message);
    assert.deepEqual(
      report?.differences.filter((difference) => !isGenesis(difference)),
      [],
    );
    const rebuilt = await rebuild(gateway, one(chains.list()), { from: 0 });
    assert.deepEqual([rebuilt?.rebuilt, rebuilt?.unplaced], [[], []]);
  });

  it('wants an Idempotency-Key with an amount, and refunds a part once for it', async () => {
    const id = await pay(USDC);
    const part = { paymentId: id, amount: { unit: 'iso4217/USD', value: '100' } };
    const without = await refundPart(part, {});
    assert.deepEqual([without.statusCode, without.json().issues[0].field], [400, 'Idempotency-Key']);
    const key = { 'idempotency-key': freshKey() };
    const answers = await Promise.all([refundPart(part, key), refundPart(part, key), refundPart(part, key)]);
    assert.equal(new Set(answers.map(({ body }) => body)).size, 1);
    assert.equal((await details(id)).refunds.length, 1);
    const other = await refundPart({ ...part, amount: { ...part.amount, value: '101' } }, key);
    assert.deepEqual([other.statusCode, other.json().code], [409, 'idempotency_conflict']);
    const tooMuch = await refundPart({ ...part, amount: { ...part.amount, value: '901' } });
    assert.equal(tooMuch.statusCode, 400);
    assert.match(tooMuch.json().issues[0].message, /is more than is left of the payment: 900 \(9\.00 USD\)/);
    const stranger = await openShop(gateway);
    const foreign = { url: `/v1/refunds/${(await details(id)).refunds[0].refundId}`, headers: stranger.headers };
    const unknown = await gateway.call(foreign);
    assert.deepEqual([unknown.statusCode, unknown.json().code], [404, 'invalid_params']);
    const list = await gateway.call({ url: `/v1/refunds?paymentId=${id}`, headers: stranger.headers });
    assert.deepEqual(list.json().refunds, []);
    await refundRest(id);
  });

  it('sends a refund elsewhere only for a key that may change destinations', async () => {
    const id = await pay(USDC);
    const friend = privateKeyToAccount(`0x${'6'.repeat(64)}`).address;
    const wish = {
      paymentId: id,
      amount: { unit: 'iso4217/USD', value: '250' },
      destination: `${SANDBOX}:${friend.toLowerCase()}`,
    };
    const narrow = await createTestKey(gateway, shop.partner.id, { mode: 'test', key: { scopes: ['refunds:write'] } });
    const refused = await refundPart(wish, { 'api-key': narrow.secret, 'idempotency-key': freshKey() });
    assert.deepEqual([refused.statusCode, refused.json().code], [403, 'forbidden']);
    for (const destination of [
      'eip155:1:0x1',
      `eip155:1:${friend}`,
      friend,
      `${SANDBOX}:${SANDBOX_ACCOUNTS.intermediate}`,
    ]) {
      const wrong = await refundPart({ ...wish, destination });
      assert.deepEqual([wrong.statusCode, wrong.json().issues[0].field], [400, 'destination'], destination);
    }
    const before = await balance(friend, USDC);
    assert.equal((await refundPart(wish)).statusCode, 200);
    const arrived = async () => (await balance(friend, USDC)) === before + 2_500_000n;
    await until('the friend has it', arrived, WITHIN);
    await refundRest(id);
  });

  it('pays held amounts out when a destination is registered, and shows them as settled; then floats pay a refund', async () => {
    const id = await pay(USDC);
    assert.equal((await details(id)).settlement, null);
    const destination = privateKeyToAccount(`0x${'5'.repeat(64)}`).address;
    const registered = await gateway.call({
      method: 'POST',
      url: `/v1/merchants/${shop.merchant.id}/settlements/crypto`,
      headers: { ...shop.headers, 'idempotency-key': freshKey() },
      payload: { settlements: [{ asset: USDC, destination: `${SANDBOX}:${destination}` }] },
    });
    assert.equal(registered.statusCode, 201, registered.body);
    await until('it is settled', async () => (await details(id)).settlement !== null, WITHIN);
    assert.equal(await balance(destination, USDC), 10_000_000n);
    const { settlement } = await details(id);
    assert.equal(settlement.successful.amount.unit, `caip19/${USDC}`);

    assert.equal((await refund(id)).statusCode, 200);
    await until('it awaits funds', async () => (await details(id)).refund.status === 'awaiting_funds', WITHIN);
    const hash = await transfer(USDC, 10_000_000n);
    const input = { owner: shop.merchant.id, asset: USDC, transactionHash: hash, actor: 'test' };
    let added: bigint | undefined;
    const isAdded = () =>
      addFloat({ ...gateway, chains }, input).then(
        (units) => {
          added = units;
          return true;
        },
        (error: Error) => {
          if (/has not read the block/.test(error.message)) return false;
          throw error;
        },
      );
    await until('the float is added', isAdded, WITHIN);
    assert.equal(added, 10_000_000n);
    await assert.rejects(addFloat({ ...gateway, chains }, input), /credited or returned before/);
    await assert.rejects(
      addFloat(
        { ...gateway, chains },
        { ...input, transactionHash: settlement.successful.txId, owner: OPERATOR_FLOAT },
      ),
      /transfers nothing of that asset/,
    );
    await isRefunded(id);
  });

  it('has refunds signed by the account that received the payment, each way to pay, with receipts that verify', async () => {
    const merchant = privateKeyToAccount(SANDBOX_KEYS.merchant);
    const own = await openShop(gateway);
    const destination = `${SANDBOX}:${merchant.address}`;
    const registered = await gateway.call({
      method: 'POST',
      url: `/v1/merchants/${own.merchant.id}/settlements/crypto`,
      headers: { ...own.headers, 'idempotency-key': freshKey() },
      payload: { settlements: [USDC, USDT, ETH].map((asset) => ({ asset, destination })) },
    });
    assert.equal(registered.statusCode, 201, registered.body);
    const [before, shopBefore] = [shop, wallet];
    try {
      // The helpers of this file pay for the shop of this test.
      shop = own;
      wallet = walletOn(gateway, { 'api-key': own.secret });
      for (const id of [await pay(USDC), await pay(USDT), await payCoin()]) {
        assert.equal((await refund(id)).statusCode, 200);
        const refundId = refundIdOf(id, 1);
        const isSignable = async () =>
          (await read(`/v1/refunds/${refundId}`)).waitingFor?.what === 'merchant_signature';
        await until('it waits for the signature', isSignable, WITHIN);
        const { waitingFor, signUrl, amount } = await read(`/v1/refunds/${refundId}`);
        assert.equal(signUrl, gateway.config.publicUrl + signPath(gateway.signingKeys, refundId));
        assert.equal(waitingFor.amount.value, amount.value);
        const url = `/v1/gateway/refund/rfnd_${signUrl.split('/r/')[1]}`;
        const headers = { 'api-key': own.secret };
        const shown = (await gateway.call({ url, headers })).json();
        assert.deepEqual([shown.account, shown.destination, shown.fee], [destination, account, null]);
        const offered = await gateway.call({ method: 'POST', url: `${url}/actions`, headers, payload: {} });
        assert.equal(offered.statusCode, 200, offered.body);
        let result = '';
        for (const { data } of offered.json().actions as { data: { method: string; params: unknown[] } }[]) {
          const [first, typed] = data.params as [{ to: Hex; data: Hex; value?: Hex }, string];
          result =
            data.method === 'eth_signTypedData_v4'
              ? await merchant.signTypedData(JSON.parse(typed))
              : await send({ to: first.to, data: first.data, value: BigInt(first.value ?? 0) }, merchant);
        }
        const confirm = () => gateway.call({ method: 'POST', url: `${url}/confirm`, headers, payload: { result } });
        const isTaken = async () => ['sending', 'refunded'].includes((await confirm()).json().status);
        await until('it is taken', isTaken, WITHIN);
        await isRefunded(id);
        await checkReceipt(id, 1);
      }
    } finally {
      [shop, wallet] = [before, shopBefore];
    }
    const isOdd = ({ subject }: { subject: string }) => subject.startsWith('rfnd_');
    const report = await reconcile(gateway, one(chains.list()), { from: 0 });
    assert.deepEqual(report?.differences.filter(isOdd), []);
    const rebuilt = await rebuild(gateway, one(chains.list()), { from: 0 });
    assert.deepEqual([rebuilt?.rebuilt, rebuilt?.unplaced], [[], []]);
  });

  it('takes refunded amounts out of the revenue', async () => {
    const stats = async (query = '') => {
      const url = `/v1/merchants/payments${query}`;
      return (await gateway.app.inject({ url, headers: shop.headers })).json().stats.totalRevenue;
    };
    const id = await pay(USDT);
    assert.deepEqual(await stats(), [{ amount: 10, currency: 'USD' }]);
    assert.deepEqual(await stats(EVER), await stats());
    assert.equal((await refund(id)).statusCode, 200);
    await isRefunded(id);
    assert.deepEqual(await stats(), [{ amount: 0, currency: 'USD' }]);
    assert.deepEqual(await stats(EVER), await stats());
  });

  it('refuses impossible refunds, and moves nothing', async () => {
    const { paymentId: open } = await shop.created();
    const other = await openShop(gateway);
    const { paymentId: foreign } = await other.created();
    assert.deepEqual(await refusal(refund(open)), [400, 'payment_not_succeeded']);
    assert.deepEqual(await refusal(refund(foreign)), [404, 'payment_not_found']);
    assert.deepEqual(await refusal(refund('pay_unknown')), [404, 'payment_not_found']);
    assert.deepEqual(await refusal(refund(`pay_${'A'.repeat(61)}`)), [400, 'params_validation']);
    assert.deepEqual(await refusal(refund('mrch_1')), [400, 'params_validation']);
    assert.deepEqual(await refusal(refund('')), [400, 'params_validation']);
  });

  it('answers a request with the same Idempotency-Key with the same answer', async () => {
    const id = await pay(USDT);
    const key = { 'idempotency-key': freshKey() };
    assert.equal((await refund(id, key)).statusCode, 200);
    const again = await refund(id, key);
    assert.equal(again.statusCode, 200);
    assert.equal(again.headers['idempotent-replayed'], 'true');
    assert.deepEqual(await refusal(refund(id, { 'idempotency-key': freshKey() })), [409, 'already_refunded']);
    await isRefunded(id);
  });

  it('gives a refusal for the state of the payment again to the same Idempotency-Key', async () => {
    const created = await shop.created();
    const { paymentId: id } = created;
    const early = { 'idempotency-key': freshKey() };
    const tooEarly = await refund(id, early);
    assert.deepEqual([tooEarly.statusCode, tooEarly.json().code], [400, 'payment_not_succeeded']);
    assert.equal(tooEarly.headers['idempotent-replayed'], undefined);
    await pay(USDT, Promise.resolve(created));
    const late = { 'idempotency-key': freshKey() };
    assert.equal((await refund(id, { 'idempotency-key': freshKey() })).statusCode, 200);
    const tooLate = await refund(id, late);
    assert.deepEqual([tooLate.statusCode, tooLate.json().code], [409, 'already_refunded']);
    for (const [key, first] of [
      [early, tooEarly],
      [late, tooLate],
    ] as const) {
      const again = await refund(id, key);
      const { code, message } = first.json();
      assert.deepEqual([again.statusCode, again.json().code], [first.statusCode, code]);
      assert.ok(again.json().message.startsWith(`${message} This is the stored answer of `), again.body);
      assert.equal(again.headers['idempotent-replayed'], 'true');
    }
    await isRefunded(id);
  });

  it('keeps a refund waiting whose recipient is a contract that refuses coin, and delays no other', async () => {
    const id = await payCoin();
    const { value } = (await details(id)).info.optionAmount;
    const coins = async (owner: string) =>
      BigInt((await evm.request({ method: 'eth_getBalance', params: [owner, 'latest'] })) as string);
    const created = await send({ data: REVERTING });
    const receipt = (await evm.request({ method: 'eth_getTransactionReceipt', params: [created] })) as Json;
    const contract: string = receipt.contractAddress;
    const part = { unit: 'iso4217/USD', value: '400' };
    const before = await coins(payer.address);
    const refused = await refundPart({ paymentId: id, amount: part, destination: `${SANDBOX}:${contract}` });
    assert.equal(refused.statusCode, 200, refused.body);
    assert.equal((await refund(id)).statusCode, 200);
    const statuses = async () => (await details(id)).refunds.map(({ status }: Json) => status);
    const isPaidBeside = async () => (await statuses()).join() === 'sending,refunded';
    await until('the rest is refunded, and the part is not', isPaidBeside, WITHIN);
    assert.equal(await coins(contract), 0n);
    const rest = (await details(id)).refunds[1].amount.value;
    assert.equal(await coins(payer.address), before + BigInt(rest));
    assert.ok(BigInt(rest) < BigInt(value));
  });
});
