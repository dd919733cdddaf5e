import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { startSandboxChain } from '../../src/sandbox/chain-process.ts';
import { startEmbeddedPostgres } from '../../src/sandbox/embedded-postgres.ts';
import { startMailServer } from '../mail-server.ts';
import { type NodeProcess, startCrashNode } from '../node-process.ts';
import { startReceiver } from '../receiver.ts';
import { startTcpProxy, type TcpProxy } from '../tcp-proxy.ts';
import { openHandMerchant } from './hand-merchant.ts';
import { openPayerWallet } from './payer-wallet.ts';
import { compareBooks, NETWORK, nodeSettings } from './settings.ts';
import { mountSmallDisk } from './small-disk.ts';

const BLOCK_MS = 100;
/** PostgreSQL keeps little of its log, so that it has room on a small disk. */
const SMALL_LOG = { max_wal_size: '96MB', min_wal_size: '32MB' };

export type CrashScene = Awaited<ReturnType<typeof openCrashScene>>;

export interface CrashSceneInput {
  /** The nodes reach PostgreSQL and the chain through proxies, which can break. */
  readonly hasNetwork?: boolean;
  /** The data of PostgreSQL is on a small disk, which can be full. */
  readonly hasSmallDisk?: boolean;
}

/** PostgreSQL, a chain and a gateway, each in processes of its own, that the harness may kill at any time. */
export async function openCrashScene({ hasNetwork = false, hasSmallDisk = false }: CrashSceneInput = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'till-crash-'));
  // PostgreSQL runs as another user when the harness runs as root.
  await chmod(folder, 0o777);
  const deps = { world: systemWorld, log: pino({ level: 'silent' }) };
  const disk = hasSmallDisk ? mountSmallDisk(join(folder, 'disk')) : undefined;
  const [postgres, chain] = await Promise.all([
    startEmbeddedPostgres(deps, {
      dir: join(disk?.dir ?? folder, 'postgres'),
      settings: { synchronous_commit: 'on', ...(disk !== undefined && SMALL_LOG) },
    }),
    startSandboxChain(deps, { dir: join(folder, 'chain'), blockMs: BLOCK_MS }),
  ]);
  const wires: Record<Wire, TcpProxy> | undefined = hasNetwork
    ? { postgres: await startTcpProxy(postgres.url), chain: await startTcpProxy(chain.rpcUrl) }
    : undefined;
  const mailServer = await startMailServer();
  const settings = nodeSettings({
    folder,
    databaseUrl: wires?.postgres.url ?? postgres.url,
    rpcUrl: wires?.chain.url ?? chain.rpcUrl,
    mailPort: mailServer.terms.port,
  });
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
  const wallet = openPayerWallet(() => chain.rpcUrl);
  const hand = await openHandMerchant({ baseUrl: node.baseUrl, apiKey }, wallet);

  return {
    postgres,
    chain,
    network: NETWORK,
    /** The connections of the nodes to each server; undefined if nothing can break them. */
    wires,
    disk,
    /** Gets the successes of payments. */
    receiver,
    /** Gets the receipts. */
    mailServer,
    apiKey,
    merchantId,
    wallet,
    hand,
    startNode,
    /** The node under test. */
    get node() {
      return node;
    },
    /** Where the API answers. A client tries the next node when one does not. */
    get baseUrls() {
      return started.filter((each) => each.hasStarted() && !each.isOver()).map(({ baseUrl }) => baseUrl);
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
    compareBooks: () => compareBooks(settings),
    async close() {
      for (const each of started) each.signal('SIGKILL');
      await Promise.all(started.map(({ ended }) => ended));
      await Promise.all([chain.stop(), postgres.stop(), receiver.stop(), mailServer.stop()]);
      for (const wire of Object.values(wires ?? {})) await wire.cut();
      disk?.unmount();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The servers that the nodes reach over a network. */
export type Wire = 'postgres' | 'chain';
