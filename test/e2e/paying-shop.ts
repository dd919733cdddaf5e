import assert from 'node:assert/strict';
import { privateKeyToAccount } from 'viem/accounts';
import type { Chains, ConnectedChain } from '../../src/chains/chains.ts';
import { createMemoryChain } from '../../src/chains/memory/memory-chain.ts';
import type { WalletAction } from '../../src/chains/payer-side.ts';
import { sandboxRates } from '../../src/rates/sandbox-rates.ts';
import { findItemsOf } from '../../src/store/chain/items.ts';
import { createTestApp, startTestGateway, type TestGateway, type TestGatewayInput } from '../gateway.ts';
import { type ManualTime, manualTime } from '../manual-time.ts';
import { findNetwork } from '../registry.ts';
import { type Headers, openShop, type Shop } from './shop.ts';

export const SANDBOX = 'eip155:31337';
export const BASE_SEPOLIA = 'eip155:84532';
export const BASE = 'eip155:8453';
export const USDC = `${SANDBOX}/erc20:0x4e4707DE5c8431f59Fa45A904854551c692C04f9`;
export const EURC = `${SANDBOX}/erc20:0x4eBF6fD78A6439A4b0C281D24Ce95d4C536CF40B`;
export const USDT = `${SANDBOX}/erc20:0x868155088756156b8E18550A345d37ab5BFda311`;
export const ETH = `${SANDBOX}/slip44:60`;
export const BASE_SEPOLIA_USDC = `${BASE_SEPOLIA}/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e`;
export const BASE_USDC = `${BASE}/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913`;

export const INTERMEDIATE = '0x1111111111111111111111111111111111111111';
export const FEES = '0x2222222222222222222222222222222222222222';
export const DESTINATION = '0x3333333333333333333333333333333333333333';
export const RELAYER = '0x4444444444444444444444444444444444444444';

export type Network = ReturnType<typeof connectMemoryChain>;
export type PayingShop = Awaited<ReturnType<typeof openPayingShop>>;

/** A network in memory as an operator connects it; a test may remove its parts. */
export function connectMemoryChain(chainId: string, time: ManualTime) {
  const network = findNetwork(chainId);
  if (network === undefined) throw new Error(`There is no network ${chainId}.`);
  const { chain, control } = createMemoryChain({ network, world: time });
  const settings = { hasRelayer: true, isConnected: true, withheld: new Set<string>() };
  const relayer = { address: RELAYER, sign: () => Promise.reject(new Error('nothing is sent in these tests')) };
  const all = chain.check().then(({ payable }) => payable);
  let payable: readonly string[] = [];
  const connected: ConnectedChain = {
    chain,
    get relayers() {
      return settings.hasRelayer ? [relayer] : [];
    },
    feeAccount: FEES,
    intermediateAccount: INTERMEDIATE,
    payable: () => payable.filter((asset) => !settings.withheld.has(asset)),
    problems: () => [],
  };
  const ready = all.then((assets) => {
    payable = assets;
  });
  return { connected, chain, control, settings, ready };
}

/** The real application with networks in memory, a shop, and the actions of wallets. */
export async function openPayingShop(
  input: TestGatewayInput & { chainIds?: readonly string[]; time?: ManualTime } = {},
) {
  const { chainIds = [SANDBOX], time = manualTime(), ...rest } = input;
  const networks = new Map(chainIds.map((id) => [id, connectMemoryChain(id, time)]));
  await Promise.all([...networks.values()].map(({ ready }) => ready));
  const connected = () => [...networks.values()].filter(({ settings }) => settings.isConnected);
  const chains: Chains = {
    find: (id) => connected().find(({ chain }) => chain.network.chainId === id)?.connected,
    list: () => connected().map((network) => network.connected),
  };
  const screened = new Set<string>();
  const screening = {
    decide: (accounts: readonly string[]) => ({
      hits: accounts.filter((account) => screened.has(account)),
      list: { hash: 'ab'.repeat(32), version: '7', date: '2026-02-28' },
    }),
  };
  const wiring = { world: { clock: time.clock }, chains, rates: sandboxRates(), screening, ...rest };
  const gateway = await startTestGateway(wiring);
  const shop = await openShop(gateway);
  const network = (id = SANDBOX) => networks.get(id) as Network;
  return {
    gateway,
    shop,
    time,
    screened,
    network,
    wiring,
    wallet: walletOn(gateway, { 'api-key': shop.secret }),
    /** A payment for ten dollars by default. */
    created: async (fields: object = {}, on: Shop = shop) => (await on.created(fields)).paymentId,
    newPayer: (funds: Readonly<Record<string, bigint>> = {}, chainId = SANDBOX) => newPayer(network(chainId), funds),
    items: (paymentId: string) => findItemsOf(gateway.db.sql, paymentId),
    async payment(id: string) {
      const [row] = await gateway.db.sql`select * from payments where id = ${id}`;
      return row as Record<string, unknown> & { status: string; native_deadline: Date | null };
    },
  };
}

export interface OptionBody {
  readonly id: string;
  readonly account: string;
  readonly amount: { readonly unit: string; readonly value: string; readonly display: object };
  readonly etaS: number;
  readonly actions: readonly ActionBody[];
  readonly expiresAt: number | null;
  readonly rate: Readonly<Record<string, unknown>> | null;
  readonly collectData: null;
}

export interface ActionBody {
  readonly type: 'walletRpc' | 'build';
  readonly data: { readonly data: string } & { readonly chain_id: string; readonly method: string; params: unknown[] };
}

/** A gateway to call: in this process, or over HTTP. */
export interface Called<Answer extends Answered> {
  call(request: {
    method?: 'GET' | 'POST';
    url: string;
    headers?: Headers;
    payload?: object | string;
  }): Promise<Answer>;
}

export interface Answered {
  readonly statusCode: number;
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers are read as a program outside would read them, without types.
  json(): any;
}

export type Wallet = ReturnType<typeof walletOn<Awaited<ReturnType<TestGateway['call']>>>>;

/** A wallet's requests, with its credentials. */
export function walletOn<Answer extends Answered>(gateway: Called<Answer>, headers: Headers) {
  const post = (id: string, rest: string, payload: object | string) =>
    gateway.call({
      method: 'POST',
      url: `/v1/gateway/payment/${id}/${rest}`,
      headers: { ...headers, 'content-type': 'application/json' },
      payload,
    });
  const options = (id: string, accounts: readonly string[], query = '') => post(id, `options${query}`, { accounts });
  return {
    post,
    options,
    fetch: (id: string, optionId: string, data = '') => post(id, 'fetch', { optionId, data }),
    confirm: (id: string, optionId: string, results: readonly unknown[], query = '') =>
      post(id, `confirm${query}`, { optionId, results }),
    status: (id: string) => gateway.call({ url: `/v1/gateway/payment/${id}/status`, headers }),
    async listed(id: string, accounts: readonly string[]): Promise<readonly OptionBody[]> {
      const response = await options(id, accounts);
      assert.equal(response.statusCode, 200, response.body);
      return response.json().options;
    },
    /** The option to pay with this asset; it must exist. */
    async option(id: string, account: string, asset: string): Promise<OptionBody> {
      const all = await this.listed(id, [account]);
      const found = all.find(({ amount }) => amount.unit === `caip19/${asset}`);
      assert.ok(found, `no option in ${asset} among ${all.map(({ amount }) => amount.unit).join(', ')}`);
      return found;
    },
  };
}

export async function appWallet(gateway: TestGateway): Promise<Wallet> {
  const app = await createTestApp(gateway);
  return walletOn(gateway, { 'app-id': app.id, 'client-id': 'test' });
}

let payers = 0;

/** A new account with funds on one network. */
export function newPayer({ chain, control }: Network, funds: Readonly<Record<string, bigint>>) {
  payers += 1;
  const signer = privateKeyToAccount(`0x${payers.toString(16).padStart(64, '0')}`);
  for (const [asset, units] of Object.entries(funds)) control.setBalance(signer.address, asset, units);
  return {
    address: signer.address,
    account: `${chain.network.chainId}:${signer.address}`,
    /** Carries out one request as a wallet does, and returns its result. */
    async carryOut({ method, params }: Pick<WalletAction, 'params'> & { method: string }): Promise<string> {
      if (method === 'eth_sendTransaction') return control.send({ method, params });
      return signer.signTypedData(JSON.parse(params[1] as string));
    },
    /** Signs the request in the `build` action of an EIP-3009 option. */
    async sign(option: OptionBody): Promise<string> {
      return this.carryOut(readBuild(option));
    },
  };
}

export type Payer = ReturnType<typeof newPayer>;

/** The request in the `build` action, decoded by a wallet without `fetch`. */
export function readBuild({ actions }: OptionBody): { chain_id: string; method: string; params: unknown[] } {
  const [action] = actions;
  assert.equal(action?.type, 'build');
  return JSON.parse(Buffer.from(action?.data.data ?? '', 'hex').toString());
}

export const result = (value: unknown) => ({ type: 'walletRpc', data: [value] });

export async function refusal(
  response: Promise<{ statusCode: number; json(): { code: string } }>,
): Promise<[number, string]> {
  const { statusCode, json } = await response;
  return [statusCode, json().code];
}
