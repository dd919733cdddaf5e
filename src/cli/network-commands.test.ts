import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { NETWORKS } from '../../test/registry.ts';
import { runCommand } from '../../test/run-command.ts';
import { COLLECTOR_ADDRESS, CREATE2_DEPLOYER } from '../chains/evm/collector.ts';
import { DEPOSITS_ADDRESS } from '../chains/evm/deposits.ts';
import { createLocalSigner } from '../chains/evm/local-signer.ts';
import { systemWorld } from '../runtime/system-world.ts';
import { type SandboxChain, startSandboxChain } from '../sandbox/chain-process.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_KEYS, sandboxGenesis } from '../sandbox/genesis.ts';
import { createLocalEvm, type LocalEvm } from '../sandbox/local-evm.ts';

const quiet = () => {};
const deps = { world: systemWorld, log: { debug: quiet, info: quiet, warn: quiet, error: quiet, fatal: quiet } };
const KEY = `0x${'1a'.repeat(32)}`;
const RELAYER = createLocalSigner(KEY).address;
const ACCOUNTS = { FEE_ACCOUNT: RELAYER, INTERMEDIATE_ACCOUNT: RELAYER };
const NOWHERE = 'http://127.0.0.1:1/v2/secret-of-the-operator';

describe('commands about networks', () => {
  let home: string;
  let database: TestDatabase;
  let sandbox: SandboxChain;
  /** A chain with nothing on it but a relayer's coin, which says it is Base Sepolia. */
  let bare: LocalEvm;
  let server: Server;
  let bareUrl: string;
  /** The bare chain's refusal of every transaction; undefined: it accepts them. */
  let refusal: string | undefined;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'till-networks-'));
    [database, sandbox, bare] = await Promise.all([
      createTestDatabase(),
      startSandboxChain(deps, { dir: join(home, 'chain'), blockMs: 20 }),
      createLocalEvm({
        chainId: 84_532,
        mining: 'auto',
        genesis: [{ address: RELAYER as `0x${string}`, balance: 10n ** 18n }],
      }),
    ]);
    server = createServer(async (request, response) => response.end(await answer(await text(request))));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    bareUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await Promise.all([sandbox.stop(), bare.close(), database.drop()]);
    await rm(home, { recursive: true, force: true });
  });

  async function answer(body: string): Promise<string> {
    if (refusal === undefined) return bare.rpc(body);
    const error = { code: -32_000, message: refusal };
    const calls = JSON.parse(body) as { id: number; method: string }[];
    const answers = calls.map(async (call) =>
      call.method === 'eth_sendRawTransaction'
        ? { jsonrpc: '2.0', id: call.id, error }
        : JSON.parse(await bare.rpc(JSON.stringify(call))),
    );
    return JSON.stringify(await Promise.all(answers));
  }

  /** The bare chain's answers about an account. */
  async function ask(method: string, address: string): Promise<unknown> {
    return JSON.parse(await bare.rpc(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [address, 'latest'] })))
      .result;
  }

  it('find the sandbox chain of a running gateway, and all of it in order', async () => {
    const { exitCode, stdout, stderr } = await till(['networks', 'check'], { TILL_HOME: home });
    assert.deepEqual([exitCode, stderr], [0, '']);
    assert.match(
      stdout,
      /^NETWORK .*\neip155:31337 +Till Sandbox +1 +up +\d+ +ETH USDC EURC USDT +-\n\nNo problems found\./,
    );
  });

  it('say so when there is no network to ask', async () => {
    for (const argv of [
      ['networks', 'check'],
      ['relayers', 'list'],
      ['collector', 'deploy', '--network', 'eip155:1'],
    ]) {
      const { exitCode, stderr } = await till(argv, { TILL_HOME: join(home, 'none'), DATABASE_URL: database.url });
      assert.equal(exitCode, 1);
      assert.match(stderr, /^invalid_state: No network is configured, and no sandbox chain runs/);
    }
  });

  it('report every endpoint separately, and show no URL', async () => {
    const env = { RPC_URLS: `eip155:31337=${sandbox.rpcUrl},${NOWHERE},${bareUrl}` };
    const { exitCode, stdout, stderr } = await till(['networks', 'check', '--json'], env);
    assert.equal(exitCode, 1);
    const reports = JSON.parse(stdout) as { endpoint: number; state: string; problems: string[] }[];
    assert.deepEqual(
      reports.map(({ endpoint, state, problems }) => [endpoint, state, problems.length]),
      [
        [1, 'up', 0],
        [2, 'down', 1],
        [3, 'down', 1],
      ],
    );
    assert.doesNotMatch(stdout + stderr, /127\.0\.0\.1|secret/);
    const table = await till(['networks', 'check'], env);
    assert.match(table.stdout, /\neip155:31337, endpoint 2: .*\neip155:31337, endpoint 3: /);
  });

  it('spend nothing where the network does not take the transaction of the CREATE2 deployer', async () => {
    const env = { RPC_URLS: `eip155:84532=${bareUrl}`, RELAYER_KEYS: KEY, ...ACCOUNTS };
    const argv = ['collector', 'deploy', '--network', 'eip155:84532'];
    for (const [words, expected] of [
      ['only replay-protected (EIP-155) transactions allowed over RPC', /^invalid_state: Base Sepolia does not take/],
      ['transaction underpriced', /^invalid_state: The CREATE2 deployer pays 100 gwei for gas/],
      ['nonce too low', /^invalid_state: The transaction of the CREATE2 deployer has failed on Base Sepolia/],
    ] as const) {
      refusal = words;
      const { exitCode, stderr } = await till(argv, env);
      assert.equal(exitCode, 1);
      assert.match(stderr, expected);
    }
    refusal = undefined;
    assert.equal(await ask('eth_getBalance', RELAYER), `0x${(10n ** 18n).toString(16)}`);
    const poor = { ...env, RELAYER_KEYS: `0x${'2b'.repeat(32)}` };
    assert.match((await till(argv, poor)).stderr, /^invalid_state: 0x\w+ needs 0\.01 ETH on Base Sepolia and gas/);
  });

  it('deploy the Collector where it is missing, after the CREATE2 deployer where that is missing too', async () => {
    const env = { RPC_URLS: `eip155:84532=${bareUrl}`, RELAYER_KEYS: KEY, ...ACCOUNTS };
    const before = await till(['networks', 'check'], env);
    assert.equal(before.exitCode, 1);
    assert.match(before.stdout, /The Collector is not deployed/);

    const argv = ['collector', 'deploy', '--network', 'eip155:84532'];
    const deployed = await till([...argv, '--json'], env);
    assert.deepEqual([deployed.exitCode, deployed.stderr], [0, '']);
    const { is, address, hash, deployerHash, depositContract } = JSON.parse(deployed.stdout);
    assert.deepEqual([is, address], ['deployed', COLLECTOR_ADDRESS]);
    assert.deepEqual([depositContract.is, depositContract.address], ['deployed', DEPOSITS_ADDRESS]);
    assert.match(hash, /^0x[0-9a-f]{64}$/);
    assert.equal(deployerHash, '0xeddf9e61fb9d8f5111840daef55e5fde0041f5702856532cdbb5a02998033d26', 'as everywhere');
    const same = sandboxGenesis().find((predeploy) => predeploy.address === CREATE2_DEPLOYER);
    assert.equal(await ask('eth_getCode', CREATE2_DEPLOYER), same?.code);
    const again = await till(argv, env);
    const [collector, deposits] = again.stdout.split('\n');
    assert.equal(collector, `The Collector was there before, at ${COLLECTOR_ADDRESS} on Base Sepolia.`);
    assert.match(deposits ?? '', /^The contract of deposit addresses was there before/);
    assert.doesNotMatch((await till(['networks', 'check'], env)).stdout, /The Collector is not deployed/);
  });

  it('refuse to deploy without a payer, on another network, or with a key everybody knows', async () => {
    const env = { RPC_URLS: `eip155:84532=${bareUrl}`, ...ACCOUNTS };
    const deploy = (network: string, more = {}) =>
      till(['collector', 'deploy', '--network', network], { ...env, ...more });
    assert.match(
      (await deploy('eip155:84532')).stderr,
      /^executor_not_found: RELAYER_KEYS has no key for eip155:84532/,
    );
    assert.match((await deploy('eip155:1')).stderr, /^invalid_params: RPC_URLS does not contain that network/);
    const known = await deploy('eip155:84532', { RELAYER_KEYS: SANDBOX_KEYS.relayer });
    assert.equal(known.exitCode, 2);
    assert.match(known.stderr, /RELAYER_KEYS has a key of the sandbox for eip155:84532/);
    assert.doesNotMatch(known.stderr, new RegExp(SANDBOX_KEYS.relayer.slice(2)));
  });

  it('list every known network with its file, and whether it is configured', async () => {
    const env = { RPC_URLS: `eip155:84532=${NOWHERE}`, ...ACCOUNTS };
    const { exitCode, stdout } = await till(['networks', 'list', '--json'], env);
    assert.equal(exitCode, 0);
    const rows: { network: string; isConfigured: boolean; file: string; coin: string; tokens: { symbol: string }[] }[] =
      JSON.parse(stdout);
    assert.deepEqual(
      rows.map(({ network }) => network),
      NETWORKS.map(({ chainId }) => chainId),
    );
    const own = rows.filter(({ isConfigured }) => isConfigured);
    assert.deepEqual(
      own.map(({ network, coin, tokens }) => [network, coin, tokens.map(({ symbol }) => symbol)]),
      [['eip155:84532', 'ETH', ['USDC']]],
    );
    assert.match(own[0]?.file ?? '', /networks\/eip155-84532\.json$/);
    const { stdout: table } = await till(['networks', 'list'], env);
    assert.match(table, /eip155:84532 +Base Sepolia +test +ETH +USDC +yes +\S+eip155-84532\.json/);
    assert.match(table, /eip155:1 +Ethereum +live +ETH +USDC EURC .* +no +/);
  });

  it('list the relayers with balance and transactions in flight', async () => {
    const env = { DATABASE_URL: database.url, RPC_URLS: `eip155:31337=${sandbox.rpcUrl}` };
    const { exitCode, stdout } = await till(['relayers', 'list', '--json'], env);
    assert.equal(exitCode, 0);
    const sandboxRelayers = [SANDBOX_ACCOUNTS.relayer, SANDBOX_ACCOUNTS.secondRelayer];
    assert.deepEqual(
      JSON.parse(stdout),
      sandboxRelayers.map((address) => ({
        network: 'eip155:31337',
        address,
        inFlight: 0,
        isLed: false,
        isFormer: false,
        balance: '1000000',
        nextNonce: 0,
      })),
    );
    const away = await till(['relayers', 'list'], { ...env, RPC_URLS: `eip155:31337=${NOWHERE}` });
    assert.equal(away.exitCode, 0);
    assert.match(away.stdout, /unknown +unknown +0 +no/);
  });
});

function till(argv: readonly string[], env: Record<string, string>) {
  return runCommand(argv, { env });
}
