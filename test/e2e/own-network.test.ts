import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { encodeFunctionData, getAddress, type Hex, parseAbi } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { reconcile } from '../../src/actions/books/audit/reconcile.ts';
import { verifyBooks } from '../../src/actions/books/verify-books.ts';
import { type ConnectedChains, connectChains } from '../../src/chains/connect.ts';
import { CREATE2_DEPLOYER } from '../../src/chains/evm/collector.ts';
import { createEvmChain } from '../../src/chains/evm/evm-chain.ts';
import { createLocalSigner } from '../../src/chains/evm/local-signer.ts';
import { runTill } from '../../src/cli/till.ts';
import { sandboxRates } from '../../src/rates/sandbox-rates.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { placeDollar, placeTether, SANDBOX_KEYS, sandboxGenesis } from '../../src/sandbox/genesis.ts';
import { createLocalEvm, type LocalEvm } from '../../src/sandbox/local-evm.ts';
import { readConfig } from '../../src/settings/read-config.ts';
import { one } from '../../src/store/plumbing/database.ts';
import { startJobs } from '../../src/workers/loop.ts';
import { payingOutJobs } from '../../src/workers/paying-out.ts';
import { startRelaying } from '../../src/workers/relaying.ts';
import { startWatching } from '../../src/workers/watching.ts';
import { startTestGateway, type TestGateway } from '../gateway.ts';
import { until } from '../until.ts';
import { readBuild, result, type Wallet, walletOn } from './paying-shop.ts';
import { openShop, type Shop } from './shop.ts';

const CHAIN = 777_777;
const NETWORK = `eip155:${CHAIN}`;
const DOLLAR = getAddress('0x00000000000000000000000000000000000d0001');
const PLAIN = getAddress('0x00000000000000000000000000000000000d0002');
const COIN = `${NETWORK}/slip44:60`;
const TOKEN = parseAbi([
  'function mint(address to, uint256 amount)',
  'function transfer(address to, uint256 amount)',
  'function balanceOf(address account) view returns (uint256)',
]);
const FUNDS = 10n ** 12n;
const COINS = 10n ** 20n;
const GAS = { maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
const WITHIN = { withinMs: 60_000 };

const minter = privateKeyToAccount(SANDBOX_KEYS.minter);
const payer = privateKeyToAccount(generatePrivateKey());
const relayerKey = generatePrivateKey();
const relayer = privateKeyToAccount(relayerKey);
const intermediateKey = generatePrivateKey();
const intermediate = privateKeyToAccount(intermediateKey);
const fees = privateKeyToAccount(generatePrivateKey());

/** A chain that no source knows, with Permit2, a token like USDC, a plain one, and nothing of ours. */
describe('a network of the operator’s own, from an empty folder', () => {
  let folder: string;
  let evm: LocalEvm;
  let rpcUrl: string;
  let gateway: TestGateway;
  let chains: ConnectedChains;
  let shop: Shop;
  let wallet: Wallet;
  const stops: (() => unknown)[] = [];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'till-own-network-'));
    stops.push(() => rmSync(folder, { recursive: true }));
    const tokens = [placeDollar(DOLLAR, { name: 'Own Dollar', symbol: 'USDO' }), placeTether(PLAIN)];
    const accounts = [payer, relayer].map(({ address }) => ({ address, balance: COINS }));
    const genesis = sandboxGenesis(tokens).filter(({ address }) => address !== CREATE2_DEPLOYER);
    evm = await createLocalEvm({ chainId: CHAIN, mining: 'auto', genesis: [...genesis, ...accounts] });
    stops.push(() => evm.close());
    for (const { initialize } of tokens) await send(initialize, minter);
    for (const to of [DOLLAR, PLAIN]) {
      const data = encodeFunctionData({ abi: TOKEN, functionName: 'mint', args: [payer.address, FUNDS] });
      await send({ to, data }, minter);
    }
    await evm.mine(5);
    const server = createServer(async (request, response) => {
      response.setHeader('content-type', 'application/json').end(await evm.rpc(await text(request)));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    stops.push(
      () => server.closeAllConnections(),
      () => server.close(),
    );
    rpcUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await describeNetwork();
    await openGateway();
  });
  after(async () => {
    for (const stop of stops.reverse()) await stop();
  });

  /** The steps of `docs/own-networks.md`. */
  async function describeNetwork(): Promise<void> {
    const tokens = ['--token', `${DOLLAR}=USD`, '--token', `${PLAIN}=USD`];
    const said = await till(['networks', 'add', '--rpc', rpcUrl, '--test', ...tokens], {});
    assert.match(said, /The Collector is not deployed/);
    const file = join(folder, 'eip155-777777.json');
    const record = JSON.parse(readFileSync(file, 'utf8'));
    // The node belongs to the operator, makes a block for each transaction, and its coin is to be paid with.
    record.coin = { ...record.coin, pay: 'native', quoteDecimals: 6, worthAtMost: 10_000 };
    record.finality = { depth: 2, reason: 'one process makes all blocks' };
    record.blockTimeMs = 250;
    record.isTrustedAlone = true;
    writeFileSync(file, JSON.stringify(record));
    const env = {
      RPC_URLS: `${NETWORK}=${rpcUrl}`,
      RELAYER_KEYS: relayerKey,
      FEE_ACCOUNT: fees.address,
      INTERMEDIATE_ACCOUNT: intermediate.address,
    };
    const deployed = await till(['collector', 'deploy', '--network', NETWORK], env);
    assert.match(deployed, /The CREATE2 deployer was missing[\s\S]*The Collector is now at /);
    assert.match(await till(['networks', 'check'], env), /ETH USDO USDT[\s\S]*No problems found\./);
  }

  async function openGateway(): Promise<void> {
    const read = readConfig({ NETWORKS_DIR: folder });
    assert.ok('config' in read);
    const { registry } = read.config;
    const network = registry.network(NETWORK);
    assert.ok(network);
    const log = pino({ level: 'silent' });
    const chain = createEvmChain({ world: systemWorld, network, endpoints: [rpcUrl], log });
    chains = connectChains({ world: systemWorld, log }, [
      {
        chain,
        relayers: [createLocalSigner(relayerKey)],
        feeAccount: fees.address,
        intermediateAccount: intermediate.address,
        intermediateSigner: createLocalSigner(intermediateKey),
      },
    ]);
    await chains.firstCheck;
    const depositMinimum = { everywhere: undefined, on: new Map([[NETWORK, 0n]]) };
    gateway = await startTestGateway({ chains, rates: sandboxRates(), config: { registry, depositMinimum } });
    const watching = { startAt: () => 0, sweepFrom: () => 0n };
    const works = [
      startRelaying(gateway),
      startWatching({ ...gateway, watching }),
      startJobs(gateway, payingOutJobs(gateway)),
    ];
    stops.push(
      () => gateway.stop(),
      () => chains.stop(),
      () => Promise.all(works.map((stop) => stop())),
    );
    shop = await openShop(gateway);
    wallet = walletOn(gateway, shop.headers);
  }

  async function till(argv: readonly string[], env: Record<string, string>): Promise<string> {
    let stdout = '';
    let stderr = '';
    const exitCode = await runTill(argv, {
      env: { ...env, NETWORKS_DIR: folder, TILL_HOME: join(folder, 'home') },
      stdout: { write: (part) => (stdout += part) },
      stderr: { write: (part) => (stderr += part) },
    });
    assert.equal(exitCode, 0, `${stdout}${stderr}`);
    return stdout;
  }

  async function send(call: { to: Hex; data?: Hex; value?: bigint }, from = payer): Promise<Hex> {
    const nonce = Number(await evm.request({ method: 'eth_getTransactionCount', params: [from.address, 'pending'] }));
    const raw = await from.signTransaction({
      type: 'eip1559',
      chainId: CHAIN,
      nonce,
      gas: 1_000_000n,
      ...GAS,
      ...call,
    });
    return (await evm.request({ method: 'eth_sendRawTransaction', params: [raw] })) as Hex;
  }

  async function balanceOf(token: Hex, account: Hex): Promise<bigint> {
    const data = encodeFunctionData({ abi: TOKEN, functionName: 'balanceOf', args: [account] });
    return BigInt(String(await evm.request({ method: 'eth_call', params: [{ to: token, data }, 'latest'] })));
  }

  /** Signs, or sends, whatever the gateway asks the wallet for. */
  async function pay(asset: string): Promise<string> {
    const { paymentId: id } = await shop.created();
    const option = await wallet.option(id, `${NETWORK}:${payer.address}`, asset);
    const actions =
      asset === COIN
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
    await succeeds(id);
    return id;
  }

  const succeeds = (id: string) =>
    until(
      'it succeeds',
      async () => {
        await evm.mine();
        return (await shop.status(id)).json().status === 'succeeded';
      },
      WITHIN,
    );

  it('takes a payment by EIP-3009, and gives it back', async () => {
    const before = await balanceOf(DOLLAR, payer.address);
    const id = await pay(`${NETWORK}/erc20:${DOLLAR}`);
    assert.equal(await balanceOf(DOLLAR, payer.address), before - 10_000_000n);
    const refunded = await gateway.call({
      method: 'POST',
      url: '/v1/refunds',
      headers: { ...shop.headers, 'content-type': 'application/json' },
      payload: { paymentId: id },
    });
    assert.equal(refunded.statusCode, 200, refunded.body);
    const isRefunded = async () => {
      await evm.mine();
      return (await shop.details(id)).json().refund?.status === 'refunded';
    };
    await until('it is refunded', isRefunded, WITHIN);
    assert.equal(await balanceOf(DOLLAR, payer.address), before);
  });

  it('takes a payment by Permit2 after an approval', async () => {
    const before = await balanceOf(PLAIN, payer.address);
    await pay(`${NETWORK}/erc20:${PLAIN}`);
    assert.equal(await balanceOf(PLAIN, payer.address), before - 10_000_000n);
  });

  it('takes a payment in its coin', async () => {
    await pay(COIN);
  });

  it('takes a plain transfer to an address of the payment', async () => {
    const { paymentId: id } = await shop.created();
    const opened = await wallet.post(id, 'address', { asset: `${NETWORK}/erc20:${DOLLAR}` });
    assert.equal(opened.statusCode, 200, opened.body);
    const { address, amount } = opened.json() as { address: string; amount: { value: string } };
    const to = address.slice(NETWORK.length + 1) as Hex;
    const args = [to, BigInt(amount.value)] as const;
    await send({ to: DOLLAR, data: encodeFunctionData({ abi: TOKEN, functionName: 'transfer', args }) });
    await succeeds(id);
  });

  it('has books that agree with the chain', async () => {
    const connected = one(chains.list());
    const isRead = async () => {
      await evm.mine();
      const report = await reconcile(gateway, connected, { from: 0 });
      return report !== undefined && report.waiting === 0 && report.differences.length === 0;
    };
    await until('the books agree', isRead, WITHIN);
    const report = await reconcile(gateway, connected, { from: 0 });
    assert.ok((report?.events ?? 0) >= 4, JSON.stringify(report));
    const [books] = await verifyBooks(gateway.db.sql);
    assert.deepEqual([books?.network, books?.problems], [NETWORK, []]);
    assert.equal(
      await balanceOf(PLAIN, intermediate.address),
      10_000_000n,
      'held for a merchant without a destination',
    );
  });
});
