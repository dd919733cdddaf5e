import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { createRecordMemory } from '../../src/actions/records/remember-records.ts';
import { connectNetworks } from '../../src/outside.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { SANDBOX_TOKENS } from '../../src/sandbox/genesis.ts';
import type { LocalEvm } from '../../src/sandbox/local-evm.ts';
import { createSandboxEvm } from '../../src/sandbox/sandbox-evm.ts';
import { networksInUse } from '../../src/settings/chains.ts';
import { readConfig } from '../../src/settings/read-config.ts';
import { listAlerts } from '../../src/store/plumbing/alerts.ts';
import { type Database, openDatabase } from '../../src/store/plumbing/database.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { REGISTRY } from '../registry.ts';
import { runCommand } from '../run-command.ts';

const NETWORK = 'eip155:31337';
const USDC = `${NETWORK}/erc20:${SANDBOX_TOKENS.USDC}`;
/** It reverts at whatever it is asked. */
const REVERTS = '0x60006000fd';
const FIVE_MINUTES_MS = 300_000;

describe('an asset whose contract differs from our data', () => {
  let evm: LocalEvm;
  let server: Server;
  let own: TestDatabase;
  let db: Database;
  let env: Record<string, string>;
  let genuine: string;
  before(async () => {
    [evm, own] = await Promise.all([createSandboxEvm({ mining: 'manual' }), createTestDatabase()]);
    server = createServer(async (request, response) => response.end(await evm.rpc(await text(request))));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const rpcUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    env = { DATABASE_URL: own.url, RPC_URLS: `${NETWORK}=${rpcUrl}`, SANDBOX: '1' };
    db = openDatabase({ url: own.url, poolSize: 2, applicationName: 'till-test' });
    genuine = String(await evm.request({ method: 'eth_getCode', params: [SANDBOX_TOKENS.USDC, 'latest'] }));
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await Promise.all([evm.close(), db.close()]);
    await own.drop();
  });

  const setCode = (code: string) => evm.request({ method: 'hardhat_setCode', params: [SANDBOX_TOKENS.USDC, code] });

  /** Connects as a node does that starts so much later, and says what it offers. */
  async function start(laterMs = 0): Promise<readonly string[]> {
    const read = readConfig(env);
    assert.ok('config' in read);
    const world = { ...systemWorld, clock: { nowMs: () => systemWorld.clock.nowMs() + laterMs } };
    const base = { registry: REGISTRY, config: read.config, world, log: pino({ level: 'silent' }), db };
    const chains = await connectNetworks(
      { ...base, records: createRecordMemory(base) },
      {
        networks: networksInUse(read.config, undefined),
        ownChain: undefined,
      },
    );
    await chains.firstCheck;
    const payable = chains.find(NETWORK)?.payable() ?? [];
    await chains.stop();
    return payable;
  }

  const alerts = async () => (await listAlerts(db.sql)).map(({ name, subject, message }) => [name, subject, message]);

  const check = () => runCommand(['networks', 'check'], { env });

  it('is not offered, is named by an alert and by the check, and leaves the network as it is', async () => {
    await setCode(REVERTS);
    const payable = await start();
    assert.deepEqual([payable.length, payable.includes(USDC)], [3, false]);
    const message = `USDC (${USDC}) is switched off: there is no token at its address.`;
    assert.deepEqual(await alerts(), [['asset_switched_off', USDC, message]]);
    const { exitCode, stdout } = await check();
    assert.equal(exitCode, 1);
    assert.match(stdout, /\neip155:31337 +Till Sandbox +1 +up +\d+ +ETH EURC USDT +USDC\n/);
    assert.ok(stdout.includes(`eip155:31337, endpoint 1: ${message}`), stdout);
  });

  it('is offered again when the contract is right, and the alert is cleared', async () => {
    await setCode(genuine);
    assert.equal((await start(FIVE_MINUTES_MS)).includes(USDC), true);
    assert.deepEqual(await alerts(), []);
    assert.equal((await check()).exitCode, 0);
  });

  it('is offered by no node that starts while two endpoints differ about it, and the alert says who says what', async () => {
    const liar = createServer(async (request, response) => {
      const lie = (answer: string) => answer.replaceAll(`${'0'.repeat(63)}6"`, `${'0'.repeat(63)}c"`);
      response.end(lie(await evm.rpc(await text(request))));
    });
    await once(liar.listen(0, '127.0.0.1'), 'listening');
    const lyingUrl = `http://127.0.0.1:${(liar.address() as AddressInfo).port}`;
    const honest = env;
    env = { ...env, RPC_URLS: `${env.RPC_URLS},${lyingUrl}` };
    try {
      assert.equal((await start(2 * FIVE_MINUTES_MS)).includes(USDC), false);
      const [alert, ...others] = await alerts();
      assert.deepEqual([alert?.slice(0, 2), others], [['endpoints_disagree', `${NETWORK} contracts`], []]);
      assert.match(
        alert?.[2] ?? '',
        /^The endpoints of Till Sandbox contradict each other about USDC \(.*\): endpoint 1: as known; endpoint 2: the contract has 12 decimals/,
      );
    } finally {
      liar.closeAllConnections();
      liar.close();
    }
    env = honest;
    assert.equal((await start(3 * FIVE_MINUTES_MS)).includes(USDC), true);
    assert.deepEqual(await alerts(), []);
  });
});
