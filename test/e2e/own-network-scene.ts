import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { encodeDeployData, encodeFunctionData, getContractAddress, type Hex, parseAbi } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import permit2 from '../../contracts/artifacts/Permit2.json' with { type: 'json' };
import testDollar from '../../contracts/artifacts/TestDollar.json' with { type: 'json' };
import testPlain from '../../contracts/artifacts/TestPlain.json' with { type: 'json' };
import testProxy from '../../contracts/artifacts/TestProxy.json' with { type: 'json' };
import { PERMIT2_ADDRESS } from '../../src/chains/evm/collector.ts';
import type { InstalledNode } from '../chains/nodes/install-node.ts';
import { type OtherNode, startNode } from '../chains/nodes/start-node.ts';
import { createEmptyDatabase } from '../database.ts';
import { freshKey } from '../gateway.ts';
import { type Installation, type NodeProcess, runInstalled, startInstalled } from '../node-process.ts';
import type { Ran } from '../run-command.ts';
import { until } from '../until.ts';
import { type Called, readBuild, result, walletOn } from './paying-shop.ts';
import { type CreatedBody, type Headers, ORDER } from './shop.ts';

/** No file of `networks/` has this chain. */
const CHAIN = 777_777;
export const OWN_NETWORK = `eip155:${CHAIN}`;
export const OWN_COIN = `${OWN_NETWORK}/slip44:60`;
const BLOCK_MS = 250;
/** Blocks from which `networks add` measures the time of a block. */
const BLOCKS = 12;

const TOKEN = parseAbi([
  'function initialize(string name, string symbol, address minter)',
  'function mint(address to, uint256 amount)',
  'function transfer(address to, uint256 amount)',
  'function balanceOf(address account) view returns (uint256)',
]);
/** Plenty of a token with 18 decimals, too. */
const FUNDS = 10n ** 24n;
const COINS = 10n ** 20n;
const FEES = { maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };

const GUIDE = readFileSync(join(import.meta.dirname, '../../docs/own-networks.md'), 'utf8').replace(/\s+/g, ' ');

export type OwnNetworkScene = Awaited<ReturnType<typeof openOwnNetwork>>;

/**
 * An operator with a chain that no file of ours knows, two tokens on it, a database and an empty folder. The operator follows
 * `docs/own-networks.md`, with the commands and the gateway of an installation in processes of their own.
 */
export async function openOwnNetwork(hardhat: InstalledNode, installation: Installation) {
  const stops: (() => unknown)[] = [];
  const close = async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  };
  try {
    const chain = await startOwnChain(hardhat, (stop) => stops.push(stop));
    const described = await describeNetwork(installation, chain);
    const gateway = await openGateway(installation, described, (stop) => stops.push(stop));
    return { ...chain, ...described, ...gateway, close };
  } catch (error) {
    await close();
    throw error;
  }
}

type OnStop = (stop: () => unknown) => void;

/** The chain makes blocks by itself. It has Permit2, as most chains do, and nothing of ours. */
async function startOwnChain(hardhat: InstalledNode, onStop: OnStop) {
  const node = await startNode('hardhat', hardhat, { chainId: CHAIN, blockMs: BLOCK_MS });
  onStop(() => node.stop());
  const payer = privateKeyToAccount(generatePrivateKey());
  const relayerKey = generatePrivateKey();
  for (const { address } of [payer, privateKeyToAccount(relayerKey)]) {
    await node.request('hardhat_setBalance', [address, `0x${COINS.toString(16)}`]);
  }
  // Only the bytecode of its publishers has its address, and our compiler makes another one.
  await node.request('hardhat_setCode', [PERMIT2_ADDRESS, permit2.deployedBytecode]);

  /** Sends a transaction of the payer, and waits until it is in a block. */
  async function send(call: { to?: Hex; data?: Hex; value?: bigint }): Promise<Hex> {
    const nonce = await nonceOf(node, payer.address);
    const gas = call.to === undefined ? 6_000_000n : 1_000_000n;
    const raw = await payer.signTransaction({ type: 'eip1559', chainId: CHAIN, nonce, gas, ...FEES, ...call });
    const hash = (await node.request('eth_sendRawTransaction', [raw])) as Hex;
    let status: string | undefined;
    await until('the transaction is in a block', async () => {
      const receipt = (await node.request('eth_getTransactionReceipt', [hash])) as { status: string } | null;
      status = receipt?.status;
      return status !== undefined;
    });
    assert.equal(status, '0x1', 'a transaction of the payer failed');
    return hash;
  }

  async function deploy({ bytecode, abi }: { bytecode: string; abi: readonly object[] }, args: readonly unknown[]) {
    const nonce = BigInt(await nonceOf(node, payer.address));
    await send({ data: encodeDeployData({ abi, bytecode: bytecode as Hex, args }) });
    return getContractAddress({ from: payer.address, nonce });
  }

  const admin = privateKeyToAccount(generatePrivateKey()).address;
  const dollar = await deploy(testProxy, [await deploy(testDollar, []), admin]);
  const call = (data: Parameters<typeof encodeFunctionData<typeof TOKEN>>[0]) =>
    send({ to: dollar, data: encodeFunctionData(data) });
  await call({ abi: TOKEN, functionName: 'initialize', args: ['Own Dollar', 'USDO', payer.address] });
  await call({ abi: TOKEN, functionName: 'mint', args: [payer.address, FUNDS] });
  const plain = await deploy(testPlain, ['Plain Dollar', 'PLAIN', 18, FUNDS]);
  await until('there are blocks to measure', async () => Number(await node.request('eth_blockNumber')) > BLOCKS);

  return {
    payer,
    relayerKey,
    rpcUrl: node.rpcUrl,
    dollar,
    plain,
    send,
    async transfer(token: Hex, to: Hex, amount: bigint): Promise<Hex> {
      return send({
        to: token,
        data: encodeFunctionData({ abi: TOKEN, functionName: 'transfer', args: [to, amount] }),
      });
    },
    async balanceOf(token: Hex, account: Hex): Promise<bigint> {
      const data = encodeFunctionData({ abi: TOKEN, functionName: 'balanceOf', args: [account] });
      return BigInt(String(await node.request('eth_call', [{ to: token, data }, 'latest'])));
    },
  };
}

async function nonceOf(node: OtherNode, account: Hex): Promise<number> {
  return Number(await node.request('eth_getTransactionCount', [account, 'pending']));
}

type OwnChain = Awaited<ReturnType<typeof startOwnChain>>;

/** The steps of the guide. Every setting is in the file `.env` of the folder. */
async function describeNetwork(installation: Installation, { rpcUrl, relayerKey, dollar, plain }: OwnChain) {
  const intermediateKey = generatePrivateKey();
  const intermediate = privateKeyToAccount(intermediateKey).address;
  const networks = join(installation.folder, 'networks');
  const settings: Record<string, string> = { NETWORKS_DIR: networks };
  const set = (more: Record<string, string>) => {
    for (const name of Object.keys(more)) assert.ok(GUIDE.includes(`\`${name}\``), `the guide names ${name}`);
    writeEnvironment(installation, Object.assign(settings, more));
  };
  mkdirSync(networks);
  set({});
  const added = await follow(installation, 'networks add --rpc <url> --test --token <address>=USD', {
    url: rpcUrl,
    address: dollar,
  });
  correct(join(networks, `eip155-${CHAIN}.json`));
  set({
    RPC_URLS: `${OWN_NETWORK}=${rpcUrl}`,
    FEE_ACCOUNT: privateKeyToAccount(generatePrivateKey()).address,
    INTERMEDIATE_ACCOUNT: intermediate,
    INTERMEDIATE_KEY: intermediateKey,
    RELAYER_KEYS: relayerKey,
    DEPOSIT_MINIMUM: `${OWN_NETWORK}=1`,
  });
  const id = OWN_NETWORK;
  const more = await follow(installation, 'tokens add --network <id> --token <address>=USD', { id, address: plain });
  const deployed = await follow(installation, 'collector deploy --network <id>', { id });
  const checked = await follow(installation, 'networks check');
  return { intermediate, settings, said: { added, more, deployed, checked } };
}

/** The second step of the guide, on a chain of one node: its coin can be paid with, and its word alone counts. */
function correct(file: string): void {
  const record = JSON.parse(readFileSync(file, 'utf8'));
  record.name = 'Own Chain';
  record.coin = { ...record.coin, pay: 'native', quoteDecimals: 6, worthAtMost: 10_000 };
  record.finality = { depth: 2, reason: 'one process makes all blocks' };
  record.isTrustedAlone = true;
  writeFileSync(file, JSON.stringify(record, null, 2));
}

function writeEnvironment({ folder }: Installation, settings: Readonly<Record<string, string>>): void {
  const lines = Object.entries(settings).map(([name, value]) => `${name}="${value}"\n`);
  writeFileSync(join(folder, '.env'), lines.join(''));
}

/** Runs a command as the guide has it, with the values of its placeholders. */
function follow(installation: Installation, command: string, values: Record<string, string> = {}): Promise<string> {
  assert.ok(GUIDE.includes(`\`npm run till -- ${command}\``), `the guide has the command ${command}`);
  const argv = command.split(' ').map((word) => word.replace(/<([a-z]+)>/, (_, name) => values[name] ?? ''));
  return tillOf(installation, argv);
}

async function tillOf(installation: Installation, argv: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runInstalled(installation, argv);
  assert.equal(exitCode, 0, `${argv.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

/** A gateway in a process of its own, with a partner and a shop. */
async function openGateway(
  installation: Installation,
  { settings }: Awaited<ReturnType<typeof describeNetwork>>,
  onStop: OnStop,
) {
  const database = await createEmptyDatabase();
  onStop(() => database.drop());
  const sources = await Promise.all(['one', 'two'].map((name) => openPriceSource(name, onStop)));
  writeEnvironment(installation, { ...settings, DATABASE_URL: database.url, RATE_SOURCES: sources.join('; ') });
  const node = await startInstalled(installation);
  onStop(() => node.ended);
  onStop(() => node.signal('SIGTERM'));
  await node.takesRequests();

  const till = (...argv: string[]) => tillOf(installation, argv);
  const partner = JSON.parse(await till('partners', 'create', '--name', 'Own Shop Ltd', '--json'));
  const key = ['keys', 'create', '--partner', partner.id, '--mode', 'test', '--label', 'Shop', '--json'];
  const apiKey = { 'api-key': JSON.parse(await till(...key)).secret as string };
  const gateway = over(node);
  const post = (url: string, headers: Headers, payload: object) =>
    gateway.call({ method: 'POST', url, headers: { ...headers, 'idempotency-key': freshKey() }, payload });
  const merchant = await post('/v1/merchants', apiKey, { merchantName: 'Own Shop', merchantEmail: 'shop@example.com' });
  assert.equal(merchant.statusCode, 201, merchant.body);
  const headers: Headers = { ...apiKey, 'merchant-id': merchant.json().merchant.id };
  return {
    node,
    run: (...argv: string[]): Promise<Ran> => runInstalled(installation, argv),
    till,
    get: (url: string) => gateway.call({ url, headers }),
    post: (url: string, payload: object) => post(url, headers, payload),
    wallet: walletOn(gateway, headers),
    /** A payment of ten dollars. */
    async created(): Promise<CreatedBody> {
      const response = await post('/v1/payments', headers, ORDER);
      assert.equal(response.statusCode, 201, response.body);
      return response.json();
    },
  };
}

/** A line of `RATE_SOURCES`: a server that has a price of the coin. */
async function openPriceSource(name: string, onStop: OnStop): Promise<string> {
  const server = createServer((_, response) => response.end('{"price":"3000"}'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onStop(() => server.close());
  onStop(() => server.closeAllConnections());
  return `${name} http://127.0.0.1:${(server.address() as AddressInfo).port}/{base}-{quote}#/price ETH/USD`;
}

function over({ baseUrl }: NodeProcess): Called<Answer> {
  return {
    async call({ method = 'GET', url, headers, payload }) {
      const body = typeof payload === 'object' ? JSON.stringify(payload) : payload;
      const response = await fetch(new URL(url, baseUrl), {
        method,
        headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
        body: body ?? null,
      });
      const bytes = Buffer.from(await response.arrayBuffer());
      const text = bytes.toString();
      return {
        statusCode: response.status,
        headers: Object.fromEntries(response.headers),
        body: text,
        bytes,
        json: () => JSON.parse(text),
      };
    },
  };
}

interface Answer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly bytes: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: answers are read as a program outside would read them, without types.
  json(): any;
}

/** The payer signs, or sends, what the gateway asks the wallet for, until the payment has succeeded. Returns its id. */
export async function payOn(scene: OwnNetworkScene, asset: string): Promise<string> {
  const { payer, wallet, send, created } = scene;
  const { paymentId: id } = await created();
  await until('the asset is offered', async () => {
    const options = await wallet.listed(id, [`${OWN_NETWORK}:${payer.address}`]);
    return options.some(({ amount }) => amount.unit === `caip19/${asset}`);
  });
  const option = await wallet.option(id, `${OWN_NETWORK}:${payer.address}`, asset);
  const actions =
    asset === OWN_COIN
      ? (await wallet.fetch(id, option.id)).json().actions.map(({ data }: { data: unknown }) => data)
      : option.actions.map((action) => (action.type === 'build' ? readBuild(option) : action.data));
  const results: ReturnType<typeof result>[] = [];
  for (const { method, params } of actions as { method: string; params: unknown[] }[]) {
    if (method === 'eth_signTypedData_v4') {
      results.push(result(await payer.signTypedData(JSON.parse(String(params[1])))));
    } else {
      const { to, data = '0x', value = '0x0' } = params[0] as { to: Hex; data?: Hex; value?: Hex };
      results.push(result(await send({ to, data, value: BigInt(value) })));
    }
  }
  const confirmed = await wallet.confirm(id, option.id, results);
  assert.equal(confirmed.statusCode, 200, confirmed.body);
  await succeeds(scene, id);
  return id;
}

export function succeeds({ get }: OwnNetworkScene, id: string): Promise<void> {
  return until('it succeeds', async () => (await get(`/v1/payments/${id}/status`)).json().status === 'succeeded');
}
