import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { runTill } from '../../src/cli/till.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { startSandboxChain } from '../../src/sandbox/chain-process.ts';
import { startEmbeddedPostgres } from '../../src/sandbox/embedded-postgres.ts';
import { type NodeProcess, startCrashNode } from '../node-process.ts';
import { startReceiver } from '../receiver.ts';

/** Short, so that a crash is repaired soon: a dead node's work waits for the end of its leases. */
export const LEASE_MS = 1_000;
const BLOCK_MS = 100;
const NETWORK = 'eip155:31337';

export type CrashScene = Awaited<ReturnType<typeof openCrashScene>>;

/** PostgreSQL, a chain and a gateway, each in processes of its own, that the harness may kill at any time. */
export async function openCrashScene() {
  const folder = await mkdtemp(join(tmpdir(), 'till-crash-'));
  // PostgreSQL runs as another user when the harness runs as root.
  await chmod(folder, 0o777);
  const deps = { world: systemWorld, log: pino({ level: 'silent' }) };
  const [postgres, chain] = await Promise.all([
    startEmbeddedPostgres(deps, { dir: join(folder, 'postgres'), settings: { synchronous_commit: 'on' } }),
    startSandboxChain(deps, { dir: join(folder, 'chain'), blockMs: BLOCK_MS }),
  ]);
  const settings = {
    TILL_HOME: join(folder, 'home'),
    TILL_SECRET: randomBytes(32).toString('base64'),
    DATABASE_URL: postgres.url,
    RPC_URLS: `${NETWORK}=${chain.rpcUrl}`,
    LEASE_MS: String(LEASE_MS),
    LOG_LEVEL: 'error',
    RATE_LIMIT_KEY_PER_SECOND: '100000',
    RATE_LIMIT_ADDRESS_PER_SECOND: '100000',
    // One account pays for everything.
    OPEN_PAYMENTS_PER_PAYER: '1000',
    GAS_PER_PAYER_HOUR: '1000000000000',
  };
  const started: NodeProcess[] = [];
  const startNode = async (port?: string) => {
    const node = await startCrashNode({ ...settings, ...(port !== undefined && { PORT: port }) });
    started.push(node);
    return node;
  };
  let node = await startNode();
  const { apiKey, merchantId } = await node.ready();
  const receiver = await startReceiver();
  const subscribed = await fetch(`${node.baseUrl}/v1/webhook-endpoints`, {
    method: 'POST',
    headers: { 'Api-Key': apiKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({ url: `${receiver.origin}/hook`, events: ['payment.succeeded'] }),
  });
  if (subscribed.status !== 201) throw new Error(`No webhook endpoint: ${await subscribed.text()}`);

  return {
    postgres,
    chain,
    network: NETWORK,
    /** Gets the successes of payments. */
    receiver,
    apiKey,
    merchantId,
    startNode,
    /** The node under test. */
    get node() {
      return node;
    },
    /** Where the API answers. A client tries the next node when one does not. */
    get baseUrls() {
      return started.filter(({ isOver }) => !isOver()).map(({ baseUrl }) => baseUrl);
    },
    /** Another node takes the place of the node under test. */
    replace(next: NodeProcess) {
      node = next;
    },
    /** Starts the node again after it was killed, at the same address. */
    async restart() {
      node = await startNode(new URL(node.baseUrl).port);
      await node.ready();
    },
    /** The differences between the books and the chain, in words; empty if there are none. */
    async compareBooks(): Promise<string> {
      let said = '';
      const write = (text: string) => (said += text);
      const exitCode = await runTill(['reconcile'], { env: settings, stdout: { write }, stderr: { write } });
      return exitCode === 0 ? '' : said;
    },
    async close() {
      for (const each of started) each.signal('SIGKILL');
      await Promise.all(started.map(({ ended }) => ended));
      await Promise.all([chain.stop(), postgres.stop(), receiver.stop()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
