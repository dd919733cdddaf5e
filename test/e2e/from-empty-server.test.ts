import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { encodeFunctionData, getAddress, type Hex, parseAbi } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { CREATE2_DEPLOYER } from '../../src/chains/evm/collector.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { findPort } from '../../src/sandbox/free-port.ts';
import { placeDollar, SANDBOX_KEYS, sandboxGenesis } from '../../src/sandbox/genesis.ts';
import { createLocalEvm, type LocalEvm } from '../../src/sandbox/local-evm.ts';
import { programFile } from '../bundled-nodes.ts';
import { connectTo, createEmptyDatabase } from '../database.ts';
import { missingDebianPostgres, startDebianPostgres } from '../debian-postgres.ts';
import { until } from '../until.ts';
import { readBuild, result } from './paying-shop.ts';
import { ORDER } from './shop.ts';

const ROOT = join(import.meta.dirname, '../..');
const CHAIN = 777_778;
const NETWORK = `eip155:${CHAIN}`;
const DOLLAR = getAddress('0x00000000000000000000000000000000000d0001');
const TOKEN = parseAbi([
  'function mint(address to, uint256 amount)',
  'function balanceOf(address) view returns (uint256)',
]);
const COINS = 10n ** 20n;
const GAS = { maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
const WITHIN = { withinMs: 120_000 };
/** A machine that runs tests is late all the time, which is no overload of the gateway. */
const BUSY = { METRICS_PORT: '0', MAX_EVENT_LOOP_DELAY_MS: '0' };

/** Else the PostgreSQL of the test run, whose writes are not durable. */
const HAS_DEBIAN = missingDebianPostgres() === false;

const payer = privateKeyToAccount(generatePrivateKey());
const fees = privateKeyToAccount(generatePrivateKey());

/** From nothing to a paid payment, by commands that the pages for operators name. */
describe('an empty server', () => {
  let folder: string;
  let evm: LocalEvm;
  let rpcUrl: string;
  let databaseUrl: string;
  let port: number;
  let node: ChildProcess | undefined;
  const stops: (() => unknown)[] = [];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'till-empty-'));
    stops.push(() => rm(folder, { recursive: true, force: true }));
    port = await findPort(systemWorld.random);
    const token = placeDollar(DOLLAR, { name: 'Own Dollar', symbol: 'USDO' });
    const genesis = sandboxGenesis([token]).filter(({ address }) => address !== CREATE2_DEPLOYER);
    evm = await createLocalEvm({
      chainId: CHAIN,
      mining: 'auto',
      genesis: [...genesis, { address: payer.address, balance: COINS }],
    });
    stops.push(() => evm.close());
    const minter = privateKeyToAccount(SANDBOX_KEYS.minter);
    await send(token.initialize, minter);
    const data = encodeFunctionData({ abi: TOKEN, functionName: 'mint', args: [payer.address, 10n ** 12n] });
    await send({ to: DOLLAR, data }, minter);
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
    databaseUrl = HAS_DEBIAN ? await debianDatabase() : await testDatabase();
  });
  after(async () => {
    if (node?.exitCode === null && node.signalCode === null) {
      node.kill('SIGKILL');
      await once(node, 'close');
    }
    for (const stop of stops.reverse()) await stop();
  });

  /** As an administrator prepares it: a role of its own, and a database that the role owns. */
  async function debianDatabase(): Promise<string> {
    const postgres = await startDebianPostgres();
    stops.push(() => postgres.stop());
    const sql = connectTo(postgres.url);
    await sql.unsafe("create role shop login password 'not-a-default'");
    await sql.unsafe('create database shop owner shop');
    await sql.end();
    const account = { username: 'shop', password: 'not-a-default', pathname: '/shop' };
    return Object.assign(new URL(postgres.url), account).href;
  }

  async function testDatabase(): Promise<string> {
    const database = await createEmptyDatabase();
    stops.push(() => database.drop());
    return database.url;
  }

  async function send(call: { to: Hex; data?: Hex; value?: bigint }, from = payer): Promise<void> {
    const nonce = Number(await evm.request({ method: 'eth_getTransactionCount', params: [from.address, 'pending'] }));
    const signed = { type: 'eip1559', chainId: CHAIN, nonce, gas: 1_000_000n, ...GAS, ...call } as const;
    await evm.request({ method: 'eth_sendRawTransaction', params: [await from.signTransaction(signed)] });
  }

  /** A command in the folder, which has no settings but those of its files. */
  function till(argv: readonly string[], env: Record<string, string> = {}): Promise<string> {
    const { PATH, HOME, NODE_COMPILE_CACHE = '' } = process.env;
    return new Promise((resolve, reject) => {
      const options = { cwd: folder, env: { PATH, HOME, NODE_COMPILE_CACHE, ...env } };
      execFile(process.execPath, [join(ROOT, 'src/cli/till.ts'), ...argv], options, (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(`till ${argv.join(' ')}: ${stdout}${stderr}`));
      });
    });
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers are read as a program outside would read them, without types.
  async function api(path: string, headers: Record<string, string>, body?: object): Promise<any> {
    const answer = await fetch(`http://localhost:${port}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...headers,
        ...(body !== undefined && { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const read = await answer.json();
    assert.ok(answer.ok, `${path}: ${answer.status} ${JSON.stringify(read)}`);
    return read;
  }

  async function describeNetwork(): Promise<void> {
    const networks = join(folder, 'networks');
    await mkdir(networks);
    const argv = ['networks', 'add', '--rpc', rpcUrl, '--test', '--token', `${DOLLAR}=USD`];
    await till(argv, { NETWORKS_DIR: networks });
    const file = join(networks, `eip155-${CHAIN}.json`);
    const record = JSON.parse(await readFile(file, 'utf8'));
    // One process makes all blocks, a block for each transaction.
    record.finality = { depth: 2, reason: 'one process makes all blocks' };
    record.blockTimeMs = 250;
    record.isTrustedAlone = true;
    await writeFile(file, JSON.stringify(record));
  }

  function startNode(): ChildProcess {
    const { PATH, HOME, NODE_COMPILE_CACHE = '' } = process.env;
    return spawn(process.execPath, [programFile('main')], {
      cwd: folder,
      env: { PATH, HOME, NODE_COMPILE_CACHE, ...BUSY },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  it('takes a payment after the commands of the pages', async (context) => {
    const beganAtMs = Date.now();
    await describeNetwork();
    const answers = {
      NETWORKS_DIR: 'networks',
      networks: [NETWORK],
      DATABASE_URL: databaseUrl,
      PORT: port,
      PUBLIC_URL: `http://localhost:${port}`,
      RPC_URLS: { [NETWORK]: rpcUrl },
      FEE_ACCOUNT: fees.address,
      RATES: null,
      operator: { name: 'Ada', email: 'ada@till.example' },
      partner: { name: 'Shop Ltd' },
    };
    await writeFile(join(folder, 'answers.json'), JSON.stringify(answers));
    const said = await till(['init', '--answers', 'answers.json', '--yes']);
    assert.equal((await stat(join(folder, 'till.env'))).mode & 0o777, 0o600);
    assert.match(said, /\nSchema of the database: Applied 0001_/);
    const missing = said.slice(said.indexOf('Missing before the first payment:'));
    assert.match(missing, /Collector/);
    const [, relayer = ''] = /^relayer \S+:(0x[0-9a-fA-F]{40}): 0 coin$/m.exec(said) ?? [];
    const [, partner = ''] = /keys create --partner (prtn_\w+) --mode test/.exec(missing) ?? [];
    assert.ok(relayer !== '' && partner !== '', said);

    await send({ to: relayer as Hex, value: COINS / 10n });
    await till(['collector', 'deploy', '--network', NETWORK]);
    assert.match(await till(['networks', 'check']), /No problems found\./);
    const key = JSON.parse(
      await till(['keys', 'create', '--partner', partner, '--mode', 'test', '--label', 'Shop', '--json']),
    );
    node = startNode();
    let log = '';
    for (const stream of [node.stdout, node.stderr]) stream?.on('data', (bytes) => (log += bytes));
    const isReady = async () => {
      assert.equal(node?.exitCode, null, log);
      return (await fetch(`http://localhost:${port}/ready`).catch(() => undefined))?.status === 200;
    };
    await until('the node is ready', isReady, WITHIN).catch((error: Error) => {
      throw new Error(`${error.message} Its log: ${log.slice(-4_000)}`);
    });

    const asPartner = { 'api-key': key.secret as string };
    const { merchant } = await api('/v1/merchants', asPartner, {
      merchantName: 'Shop',
      merchantEmail: 'shop@till.example',
    });
    const asShop = { ...asPartner, 'merchant-id': merchant.id as string };
    const { paymentId, gatewayUrl } = await api('/v1/payments', asShop, ORDER);
    assert.equal(new URL(gatewayUrl).origin, `http://localhost:${port}`);
    const path = `/v1/gateway/payment/${paymentId}`;
    const { options } = await api(`${path}/options`, asPartner, { accounts: [`${NETWORK}:${payer.address}`] });
    const asset = `caip19/${NETWORK}/erc20:${DOLLAR}`;
    const option = options.find((each: { amount: { unit: string } }) => each.amount.unit === asset);
    assert.ok(option, JSON.stringify(options));
    const signature = await payer.signTypedData(JSON.parse(String(readBuild(option).params[1])));
    await api(`${path}/confirm`, asPartner, { optionId: option.id, results: [result(signature)] });
    let minedAtMs = 0;
    const isPaid = async () => {
      // A block is a second later than the one before, at least: more blocks would be ahead of real time.
      if (Date.now() - minedAtMs > 1_000) {
        minedAtMs = Date.now();
        await evm.mine();
      }
      return (await api(`/v1/payments/${paymentId}/status`, asShop)).status === 'succeeded';
    };
    await until('it is paid', isPaid, WITHIN);
    const held = await evm.request({
      method: 'eth_call',
      params: [
        { to: DOLLAR, data: encodeFunctionData({ abi: TOKEN, functionName: 'balanceOf', args: [payer.address] }) },
        'latest',
      ],
    });
    assert.equal(BigInt(String(held)), 10n ** 12n - 10_000_000n, 'the payer has paid ten dollars');
    context.diagnostic(`from an empty folder to a paid payment: ${Math.round((Date.now() - beganAtMs) / 1_000)} s`);

    // The gateway runs on its port now: the public URL must lead to the same gateway.
    let again = '';
    // A node announces itself some seconds after its start.
    const isAnnounced = async () => {
      again = await till(['init', '--yes']);
      return !again.includes('No node runs.');
    };
    await until('the node is announced', isAnnounced, WITHIN);
    assert.match(again, /Nothing differs: till\.env is as it was\./);
    assert.match(again, /A request to http:\/\/localhost:\d+ arrives at/);
    const rest = again.slice(again.lastIndexOf('\n\n')).trim().split('\n');
    const expected = HAS_DEBIAN ? /^Nothing is missing before the first payment\.$/ : /^1\. fsync and /;
    assert.match(rest.at(-1) ?? '', expected, again);
    node.kill('SIGTERM');
    const [code] = await once(node, 'close');
    assert.equal(code, 0, log.slice(-2_000));
  });
});
