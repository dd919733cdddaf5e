import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { createTestDatabase } from '../database.ts';
import { startNodeProcess } from '../node-process.ts';
import { createTestWallet, type TestWallet } from './test-wallet.ts';

/** The parts of `sandbox.json` that a payer needs. */
interface SandboxFile {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly merchantId: string;
  readonly appId: string;
  readonly dashboardUrl: string;
  readonly chains: Readonly<Record<string, { rpcUrl: string; assets: Readonly<Record<string, string>> }>>;
  readonly payer: { readonly privateKey: Hex };
}

export interface CreatedPayment {
  readonly paymentId: string;
  readonly gatewayUrl: string;
}

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

const CHAIN_ID = 'eip155:31337';
/** Blocks are fast, so that tests are short. */
const BLOCK_MS = '100';
const TOKEN = parseAbi([
  'function transfer(address to, uint256 value)',
  'function balanceOf(address account) view returns (uint256)',
]);

/** The gateway as `npm start` runs it, with its sandbox chain, and the controls of a test. */
export async function startSandbox(settings: Readonly<Record<string, string>> = {}) {
  const database = await createTestDatabase();
  const home = await mkdtemp(join(tmpdir(), 'till-sandbox-'));
  const start = (more: Readonly<Record<string, string>> = {}) =>
    startNodeProcess({
      TILL_HOME: home,
      DATABASE_URL: database.url,
      SANDBOX: '1',
      SANDBOX_BLOCK_MS: BLOCK_MS,
      RATE_LIMIT_KEY_PER_SECOND: '10000',
      RATE_LIMIT_ADDRESS_PER_SECOND: '10000',
      SURVEY_ACCOUNTS_PER_KEY: '100000',
      SURVEY_ACCOUNTS_PER_ADDRESS: '100000',
      LIST_COST_MS_PER_SECOND: '100000',
      ...settings,
      ...more,
    });
  let node = await start();
  const stop = async () => {
    node.signal('SIGTERM');
    await node.ended;
    await database.drop();
    await rm(home, { recursive: true, force: true });
  };
  try {
    const file = (await node.ready()) as SandboxFile;
    return {
      ...describe(node.baseUrl, file),
      databaseUrl: database.url,
      home,
      /** All that the gateway has printed. */
      output: () => node.output(),
      stop,
      /** Restarts the gateway in the same folder; in between it does not answer. */
      async restart(whileDown: () => Promise<void> = async () => {}) {
        node.signal('SIGTERM');
        await node.ended;
        await whileDown();
        node = await start({ PORT: new URL(node.baseUrl).port });
        await node.ready();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function describe(baseUrl: string, file: SandboxFile) {
  const chain = file.chains[CHAIN_ID];
  assert.ok(chain, 'the sandbox names its chain');
  const { rpcUrl, assets } = chain;
  const bank = createTestWallet({ rpcUrl, chainId: CHAIN_ID, privateKey: file.payer.privateKey });
  let keys = 0;

  async function call<T>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    merchantId = file.merchantId,
  ) {
    keys += 1;
    const headers = {
      'api-key': file.apiKey,
      'merchant-id': merchantId,
      'idempotency-key': `wallet-sdk-${keys}`,
      'content-type': 'application/json',
    };
    const answer = await fetch(baseUrl + path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${method} ${path}: ${text}`);
    return JSON.parse(text) as T;
  }

  const addressOf = (symbol: string) => (assets[symbol] ?? '').split('erc20:')[1] as Hex;
  return {
    baseUrl,
    rpcUrl,
    appId: file.appId,
    apiKey: file.apiKey,
    merchantId: file.merchantId,
    dashboardUrl: file.dashboardUrl,
    call,
    /** CAIP-19 by symbol. */
    assetOf: (symbol: string) => assets[symbol] ?? '',
    createPayment: (unit: string, value: string, fields: object = {}, merchantId?: string) =>
      call<CreatedPayment>(
        'POST',
        '/v1/payments',
        { amount: { unit, value }, referenceId: 'SDK', ...fields },
        merchantId,
      ),
    /** A new merchant with the account as destination for the asset, and a function to change the destination. */
    async createMerchant(asset: string, destination: string) {
      const body = { merchantName: 'Shop', merchantEmail: 'shop@example.com' };
      const { merchant } = await call<{ merchant: { id: string } }>('POST', '/v1/merchants', body);
      const path = `/v1/merchants/${merchant.id}/settlements/crypto`;
      const made = await call<{ settlements: { id: string }[] }>('POST', path, {
        settlements: [{ asset, destination }],
      });
      return {
        id: merchant.id,
        payElsewhere: (account: string) => call('PUT', `${path}/${made.settlements[0]?.id}`, { destination: account }),
      };
    },
    /** A new wallet with these token balances, in their smallest unit. */
    async createWallet(holdings: Readonly<Record<string, bigint>>): Promise<TestWallet> {
      const wallet = createTestWallet({ rpcUrl, chainId: CHAIN_ID });
      for (const [symbol, value] of Object.entries(holdings)) {
        if (symbol === 'ETH') await bank.send({ to: wallet.address, value });
        else {
          const data = encodeFunctionData({ abi: TOKEN, functionName: 'transfer', args: [wallet.address, value] });
          await bank.send({ to: addressOf(symbol), data });
        }
      }
      return wallet;
    },
    balanceOf: (symbol: string, address: Hex): Promise<bigint> =>
      bank.reader.readContract({ address: addressOf(symbol), abi: TOKEN, functionName: 'balanceOf', args: [address] }),
    receiptOf: (hash: string) => bank.reader.getTransactionReceipt({ hash: hash as Hex }),
  };
}
