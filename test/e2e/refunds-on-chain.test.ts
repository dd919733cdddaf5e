import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { addFloat } from '../../src/actions/outgoing/float/add-float.ts';
import { assetsOf } from '../../src/chains/assets.ts';
import type { Chains } from '../../src/chains/chains.ts';
import { createEvmChain } from '../../src/chains/evm/evm-chain.ts';
import { createLocalSigner } from '../../src/chains/evm/local-signer.ts';
import { findNetwork } from '../../src/chains/networks.ts';
import { OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { sandboxRates } from '../../src/rates/sandbox-rates.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { createSandboxEvm, SANDBOX_ACCOUNTS, SANDBOX_KEYS } from '../../src/sandbox/genesis.ts';
import type { LocalEvm } from '../../src/sandbox/local-evm.ts';
import { startJobs } from '../../src/workers/loop.ts';
import { payingOutJobs } from '../../src/workers/paying-out.ts';
import { startRelaying } from '../../src/workers/relaying.ts';
import { startWatching } from '../../src/workers/watching.ts';
import { freshKey, startTestGateway, type TestGateway } from '../gateway.ts';
import { until } from '../until.ts';
import { ETH, readBuild, refusal, result, SANDBOX, USDC, USDT, type Wallet, walletOn } from './paying-shop.ts';
import { openShop, type Shop } from './shop.ts';

const TOKEN = parseAbi([
  'function transfer(address to, uint256 amount)',
  'function balanceOf(address) view returns (uint256)',
]);
/** A filter that keeps everything, and makes the sums come from the payments instead of the totals. */
const EVER = '?startTs=2020-01-01T00:00:00Z';
const WITHIN = { withinMs: 60_000 };

/** The whole gateway with its workers, on a real EVM with a real Collector. */
describe('refunds and payouts on a real chain', () => {
  let evm: LocalEvm;
  let gateway: TestGateway;
  let shop: Shop;
  let wallet: Wallet;
  let chains: Chains;
  const stops: (() => unknown)[] = [];
  const payer = privateKeyToAccount(SANDBOX_KEYS.payer);
  const account = `${SANDBOX}:${payer.address}`;

  before(async () => {
    evm = await createSandboxEvm({ mining: { intervalMs: 100, idleMs: 100 } });
    const server = createServer(async (request, response) => {
      response.setHeader('content-type', 'application/json').end(await evm.rpc(await text(request)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const network = findNetwork(SANDBOX);
    if (network === undefined) throw new Error('The sandbox is not a known network');
    const rpcUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
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

  const refund = (paymentId: string, headers: Record<string, string> = {}) =>
    gateway.app.inject({
      method: 'POST',
      url: '/v1/refunds',
      headers: { ...shop.headers, 'content-type': 'application/json', ...headers },
      payload: { paymentId },
    });
  const details = async (id: string) =>
    (await gateway.app.inject({ url: `/v1/payments/${id}`, headers: shop.headers })).json();
  const isRefunded = (id: string) =>
    until('it is refunded', async () => (await details(id)).refund?.status === 'refunded', WITHIN);
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
  async function send(call: { to: Hex; data: Hex; value?: bigint }): Promise<string> {
    const count = await evm.request({ method: 'eth_getTransactionCount', params: [payer.address, 'pending'] });
    const raw = await payer.signTransaction({
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
      const told = answers.map(({ statusCode, json }) => json().code ?? `${statusCode} ${json().paymentId}`).sort();
      assert.deepEqual(told, [`200 ${id}`, ...Array(9).fill('already_refunded')]);
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
    const { paymentId: id } = await shop.created();
    const option = await wallet.option(id, account, ETH);
    const [action] = (await wallet.fetch(id, option.id)).json().actions;
    const { to, value, data } = action.data.params[0] as { to: Hex; value: Hex; data: Hex };
    const hash = await send({ to, data, value: BigInt(value) });
    assert.equal((await wallet.confirm(id, option.id, [result(hash)])).statusCode, 200);
    await until('it succeeds', async () => (await shop.status(id)).json().status === 'succeeded', WITHIN);
    const coins = () => evm.request({ method: 'eth_getBalance', params: [payer.address, 'latest'] });
    const before = BigInt((await coins()) as string);
    assert.equal((await refund(id)).statusCode, 200);
    await isRefunded(id);
    assert.equal(BigInt((await coins()) as string), before + BigInt(value));
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
    assert.equal(await addFloat({ ...gateway, chains }, input), 10_000_000n);
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
      assert.deepEqual([again.statusCode, again.body], [first.statusCode, first.body]);
      assert.equal(again.headers['idempotent-replayed'], 'true');
    }
    await isRefunded(id);
  });
});
