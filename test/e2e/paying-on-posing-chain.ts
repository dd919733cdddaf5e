import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { decodePaymentResponseHeader, x402Client, x402HTTPClient } from '@x402/fetch';
import { pino } from 'pino';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { connectChains } from '../../src/chains/connect.ts';
import { createEvmChain } from '../../src/chains/evm/evm-chain.ts';
import { createLocalSigner } from '../../src/chains/evm/local-signer.ts';
import type { KnownAsset } from '../../src/chains/network.ts';
import { sandboxRates } from '../../src/rates/sandbox-rates.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_KEYS } from '../../src/sandbox/genesis.ts';
import { startRelaying } from '../../src/workers/relaying.ts';
import { startWatching } from '../../src/workers/watching.ts';
import { type InstalledNode, installNode, type NodeName } from '../chains/nodes/install-node.ts';
import type { OtherNode } from '../chains/nodes/start-node.ts';
import { startPosingChain } from '../chains/posing-chain.ts';
import { freshKey, startTestGateway, type TestGateway } from '../gateway.ts';
import { ONLY_LONG } from '../long.ts';
import { assetsOf, findNetwork } from '../registry.ts';
import { until } from '../until.ts';
import { type OptionBody, readBuild, result, walletOn } from './paying-shop.ts';
import { openShop, type Shop } from './shop.ts';

const TOKEN = parseAbi([
  'function mint(address to, uint256 amount)',
  'function transfer(address to, uint256 amount)',
  'function balanceOf(address account) view returns (uint256)',
]);
const WITHIN = { withinMs: 80_000 };
/** Plenty of a token with 18 decimals, and of one with 6. */
const FUNDS = 10n ** 19n;
const FEES = { maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };

/**
 * A live gateway on another node implementation that poses as a network, with a token in the shape of each real one,
 * like an operator's gateway on that network.
 */
export async function describePayingOn(name: NodeName, networkId: string): Promise<void> {
  const title = `paying on ${name}, which poses as ${networkId}`;
  const installed = await installNode(name);
  if ('missing' in installed) return void it(title, { skip: installed.missing });

  describe(title, () => {
    let scene: Scene;
    before(async () => {
      scene = await openScene(name, installed, networkId);
    });
    after(() => scene?.close());

    it('comes up with every asset of the network', () => {
      const assets = assetsOf(networkId).map(({ id }) => id);
      const connected = scene.gateway.chains.find(networkId);
      assert.deepEqual([connected?.payable(), connected?.problems()], [assets, []]);
    });

    it('takes a payment in every token and in coin, from options to the money on the account of the merchant', async () => {
      const payments: Paid[] = [];
      for (const asset of assetsOf(networkId)) payments.push(await scene.pay(asset));
      await areSettled(payments);
    });

    it('takes a plain transfer to an address of the payment, in every token at its price', {
      ...ONLY_LONG,
    }, async () => {
      const payments: Paid[] = [];
      for (const asset of assetsOf(networkId).filter(({ peg }) => peg === 'USD')) {
        payments.push(await scene.payByAddress(asset));
      }
      await areSettled(payments);
    });

    it('takes a payment by x402 in every token at its price that takes authorizations', { ...ONLY_LONG }, async () => {
      const assets = assetsOf(networkId).filter(({ peg, pay }) => peg === 'USD' && pay && 'domain' in pay);
      const payments: Awaited<ReturnType<typeof payByX402>>[] = [];
      for (const asset of assets) payments.push(await scene.payByX402(asset));
      await areSettled(payments);
      for (const { asset, amount, payer, answer } of payments) {
        const { statusCode, headers, body } = await answer;
        assert.equal(statusCode, 200, `${asset.symbol}: ${body}`);
        const settled = decodePaymentResponseHeader(String(headers['payment-response']));
        assert.deepEqual([settled.success, settled.payer, settled.amount], [true, payer, amount.toString()]);
        const receipt = await scene.node.request('eth_getTransactionReceipt', [settled.transaction]);
        assert.equal((receipt as { status: string }).status, '0x1');
      }
    });

    /** All have succeeded, and the money is with the merchant. */
    async function areSettled(payments: readonly Paid[]): Promise<void> {
      assert.ok(payments.length > 0);
      await until(
        'all are paid and settled',
        async () => {
          await scene.node.request('evm_mine');
          const isSettled = payments.map(async ({ status, asset, recipient, amount }) => {
            return (await status()) === 'succeeded' && (await scene.balanceOf(asset, recipient)) === amount;
          });
          return (await Promise.all(isSettled)).every(Boolean);
        },
        WITHIN,
      );
    }
  });
}

type Scene = Awaited<ReturnType<typeof openScene>>;

/** A payment whose money is on its way. */
interface Paid {
  readonly asset: KnownAsset;
  readonly recipient: string;
  readonly amount: bigint;
  status(): Promise<string>;
}

async function openScene(name: NodeName, installed: InstalledNode, networkId: string) {
  const network = findNetwork(networkId);
  if (network?.finality === undefined) throw new Error(`There is no network ${networkId}.`);
  const node = await startPosingChain(name, installed, networkId);
  const log = pino({ level: 'silent' });
  const chain = createEvmChain({
    world: systemWorld,
    // The test mines blocks, more often than the network.
    network: { ...network, finality: { ...network.finality, blockTimeMs: 250 } },
    endpoints: [node.rpcUrl],
    log,
  });
  const chains = connectChains({ world: systemWorld, log }, [
    {
      chain,
      relayers: [createLocalSigner(SANDBOX_KEYS.relayer)],
      feeAccount: SANDBOX_ACCOUNTS.feeAccount,
      intermediateAccount: SANDBOX_ACCOUNTS.intermediate,
    },
  ]);
  await chains.firstCheck;
  const depositMinimum = { everywhere: undefined, on: new Map([[networkId, 0n]]) };
  const gateway = await startTestGateway({ chains, rates: sandboxRates(), config: { depositMinimum } });
  const deps = { ...gateway, world: systemWorld, log };
  const works = [startRelaying(deps), startWatching({ ...deps, watching: { startAt: () => 0, sweepFrom: () => 0n } })];
  return {
    node,
    gateway,
    pay: (asset: KnownAsset) => pay({ node, networkId, gateway }, asset),
    payByAddress: (asset: KnownAsset) => payByAddress({ node, networkId, gateway }, asset),
    payByX402: (asset: KnownAsset) => payByX402({ node, networkId, gateway }, asset),
    async balanceOf({ id, pay: terms }: KnownAsset, account: string): Promise<bigint> {
      if (terms?.method === 'native') return BigInt(String(await node.request('eth_getBalance', [account, 'latest'])));
      const data = encodeFunctionData({ abi: TOKEN, functionName: 'balanceOf', args: [account as Hex] });
      return BigInt(String(await node.request('eth_call', [{ to: contractOf(id), data }, 'latest'])));
    },
    async close() {
      await Promise.all(works.map((stop) => stop()));
      await chains.stop();
      await gateway.stop();
      await node.stop();
    },
  };
}

interface Place {
  readonly node: OtherNode;
  readonly networkId: string;
  readonly gateway: TestGateway;
}

/** A payment of ten dollars to a new account of a new shop, and a new payer with funds for it. */
async function openPayment(place: Place, asset: KnownAsset) {
  const payer = privateKeyToAccount(generatePrivateKey());
  const recipient = privateKeyToAccount(generatePrivateKey()).address;
  const shop = await openShopPaidIn(place, asset.id, recipient);
  await fund(place, payer.address, asset);
  const { paymentId: id } = await shop.created();
  return { payer, recipient, shop, id };
}

/** The payer signs, or sends a transaction, as the gateway asks. */
async function pay(place: Place, asset: KnownAsset): Promise<Paid> {
  const { gateway, networkId } = place;
  const { payer, recipient, shop, id } = await openPayment(place, asset);
  const wallet = walletOn(gateway, shop.headers);
  const listed = await wallet.options(id, [`${networkId}:${payer.address}`]);
  const option = (listed.json().options as OptionBody[]).find(({ amount }) => amount.unit === `caip19/${asset.id}`);
  assert.ok(option, `${asset.symbol} is not offered: ${listed.body}`);
  const results: ReturnType<typeof result>[] = [];
  for (const action of await actionsOf(place, shop, id, option)) {
    const { method, params } = action;
    if (method === 'eth_signTypedData_v4') {
      results.push(result(await payer.signTypedData(JSON.parse(String(params[1])))));
    } else {
      const { to, data = '0x', value = '0x0' } = params[0] as { to: Hex; data?: Hex; value?: Hex };
      results.push(result(await send(place, payer, { to, data, value: BigInt(value) })));
    }
  }
  const confirmed = await wallet.confirm(id, option.id, results);
  assert.equal(confirmed.statusCode, 200, `${asset.symbol}: ${confirmed.body}`);
  const status = async () => (await shop.status(id)).json().status as string;
  return { asset, recipient, amount: BigInt(option.amount.value), status };
}

/** A wallet that knows nothing of the gateway sends the amount to the address of the payment. */
async function payByAddress(place: Place, asset: KnownAsset): Promise<Paid> {
  const { gateway, networkId } = place;
  const { payer, recipient, shop, id } = await openPayment(place, asset);
  const opened = await walletOn(gateway, shop.headers).post(id, 'address', { asset: asset.id });
  assert.equal(opened.statusCode, 200, `${asset.symbol}: ${opened.body}`);
  const { address, amount } = opened.json() as { address: string; amount: { value: string } };
  const to = address.slice(networkId.length + 1) as Hex;
  const data = encodeFunctionData({ abi: TOKEN, functionName: 'transfer', args: [to, BigInt(amount.value)] });
  await send(place, payer, { to: contractOf(asset.id), data });
  const status = async () => (await shop.status(id)).json().status as string;
  return { asset, recipient, amount: BigInt(amount.value), status };
}

/** A program pays by itself, with a published client. Its request is answered when the transfer is in a block. */
async function payByX402(place: Place, asset: KnownAsset) {
  const { gateway, networkId } = place;
  const { payer, recipient, shop, id } = await openPayment(place, asset);
  const get = (headers = {}) => gateway.call({ method: 'GET', url: `/x402/${id}`, headers });
  const asked = await get();
  assert.equal(asked.statusCode, 402, `${asset.symbol}: ${asked.body}`);
  const { accepts, ...required } = asked.json() as Parameters<x402HTTPClient['createPaymentPayload']>[0];
  const only = accepts.filter((each) => each.asset === contractOf(asset.id));
  assert.equal(only.length, 1, `${asset.symbol}: ${asked.body}`);
  const schemes = [{ network: networkId as 'eip155:1', client: new ExactEvmScheme(payer) }];
  const client = new x402HTTPClient(x402Client.fromConfig({ schemes, spendControls: false }));
  const payload = await client.createPaymentPayload({ ...required, accepts: only });
  const answer = get(client.encodePaymentSignatureHeader(payload));
  const status = async () => (await shop.status(id)).json().status as string;
  return { asset, recipient, amount: BigInt(only[0]?.amount ?? 0), status, payer: payer.address, answer };
}

/** The actions of the wallet. Coin is requested by `fetch`, so that the gateway expects it. */
async function actionsOf({ gateway }: Place, { headers }: Shop, id: string, option: OptionBody) {
  const isCoin = option.amount.unit.includes('/slip44:');
  if (!isCoin) return option.actions.map((action) => (action.type === 'build' ? readBuild(option) : action.data));
  const fetched = await walletOn(gateway, headers).fetch(id, option.id);
  assert.equal(fetched.statusCode, 200, fetched.body);
  return fetched.json().actions.map(({ data }: { data: unknown }) => data) as { method: string; params: unknown[] }[];
}

async function openShopPaidIn({ gateway, networkId }: Place, asset: string, recipient: string): Promise<Shop> {
  const shop = await openShop(gateway, { mode: findNetwork(networkId)?.mode ?? 'test' });
  const response = await gateway.call({
    method: 'POST',
    url: `/v1/merchants/${shop.merchant.id}/settlements/crypto`,
    headers: { ...shop.headers, 'idempotency-key': freshKey() },
    payload: { settlements: [{ asset, destination: `${networkId}:${recipient}` }] },
  });
  assert.equal(response.statusCode, 201, response.body);
  return shop;
}

async function fund(place: Place, account: Hex, { id, pay: terms }: KnownAsset): Promise<void> {
  await place.node.request('hardhat_setBalance', [account, `0x${FUNDS.toString(16)}`]);
  if (terms?.method === 'native') return;
  const data = encodeFunctionData({ abi: TOKEN, functionName: 'mint', args: [account, FUNDS] });
  await send(place, privateKeyToAccount(SANDBOX_KEYS.minter), { to: contractOf(id), data });
}

/** Sends a transaction and has it mined. */
async function send(
  { node, networkId }: Place,
  account: ReturnType<typeof privateKeyToAccount>,
  call: { to: Hex; data: Hex; value?: bigint },
): Promise<Hex> {
  const nonce = Number(await node.request('eth_getTransactionCount', [account.address, 'pending']));
  const chainId = Number(networkId.slice('eip155:'.length));
  const raw = await account.signTransaction({ type: 'eip1559', chainId, nonce, gas: 1_000_000n, ...FEES, ...call });
  const hash = (await node.request('eth_sendRawTransaction', [raw])) as Hex;
  await node.request('evm_mine');
  return hash;
}

const contractOf = (asset: string) => asset.slice(asset.lastIndexOf(':') + 1) as Hex;
