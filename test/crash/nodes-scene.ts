import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { startSandboxChain } from '../../src/sandbox/chain-process.ts';
import { missingHaproxy, startHaproxy } from '../haproxy.ts';
import { type NodeProcess, startNodeProcess } from '../node-process.ts';
import { missingPgBouncer, startPgBouncer } from '../pgbouncer.ts';
import { missingReplication, startReplicatedPostgres } from '../replicated-postgres.ts';
import { openHandMerchant } from './hand-merchant.ts';
import { openPayerWallet } from './payer-wallet.ts';
import { compareBooks, NETWORK, type NodeSettings, nodeSettings } from './settings.ts';

const BLOCK_MS = 250;
export const SERVER_CONNECTIONS = 20;
/** Longer than two checks of HAProxy. */
const DRAIN_MS = 2_500;

export const missingForNodes = () => missingHaproxy() || missingPgBouncer() || missingReplication();

export type NodesScene = Awaited<ReturnType<typeof openNodes>>;
/** Its PostgreSQL can fail over. */
export type FailingScene = Awaited<ReturnType<typeof openNodesScene>>;

/** The database of nodes, with everything in front of it. */
interface SceneDatabase {
  /** As the settings of a node name it. */
  readonly settings: { readonly DATABASE_URL: string } & Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

interface NodesInput {
  /** Customers pay in all ways, and not by their wallets alone. */
  readonly hasAllWays?: boolean;
}

/** Three nodes behind HAProxy, on PgBouncer and a PostgreSQL with a synchronous standby, which can fail over. */
export async function openNodesScene() {
  const servers = await startReplicatedPostgres();
  const pgBouncer = await startPgBouncer(servers.primary.url, { serverConnections: SERVER_CONNECTIONS });
  const scene = await openNodes({
    settings: { DATABASE_URL: pgBouncer.url, DATABASE_DIRECT_URL: servers.url },
    async stop() {
      await pgBouncer.stop();
      await servers.stop();
    },
  });
  return {
    ...scene,
    /** Kills the primary, promotes its standby, and leads PgBouncer there. */
    async failOver() {
      await servers.primary.signal('SIGKILL');
      await servers.promoteStandby();
      await pgBouncer.pointAt(servers.standby.url);
    },
  };
}

/** Three nodes behind HAProxy, on a database that ends with them. */
export async function openNodes(database: SceneDatabase, input: NodesInput = {}) {
  const stops: Stop[] = [database.stop];
  const close = async () => {
    for (const stop of stops.toReversed()) await stop();
  };
  try {
    return { ...(await startParts(database, { ...input, stops })), close };
  } catch (error) {
    await close();
    throw error;
  }
}

type Stop = () => Promise<unknown>;

async function startParts(
  database: SceneDatabase,
  { hasAllWays = false, stops }: NodesInput & { readonly stops: Stop[] },
) {
  const folder = await mkdtemp(join(tmpdir(), 'till-three-nodes-'));
  stops.push(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o777);
  const deps = { world: systemWorld, log: pino({ level: 'silent' }) };
  const chain = await startSandboxChain(deps, { dir: join(folder, 'chain'), blockMs: BLOCK_MS });
  stops.push(chain.stop);
  let settings: NodeSettings & Readonly<Record<string, string>> = {
    ...nodeSettings({ folder, databaseUrl: database.settings.DATABASE_URL, rpcUrl: chain.rpcUrl }),
    ...database.settings,
    DRAIN_MS: String(DRAIN_MS),
  };
  const start = (port?: string) => startNodeProcess({ ...settings, ...(port !== undefined && { PORT: port }) });
  const nodes: NodeProcess[] = [];
  const killAll = async () => {
    for (const node of nodes) node.signal('SIGKILL');
    await Promise.all(nodes.map(({ ended }) => ended));
  };
  stops.push(killAll);
  const first = await start();
  nodes.push(first);
  // The first one migrates, and makes the merchant.
  const { apiKey, merchantId } = await first.ready();
  nodes.push(await start(), await start());
  await Promise.all(nodes.map((node) => node.ready()));
  const balancer = await startHaproxy(nodes.map(({ baseUrl }) => baseUrl));
  stops.push(balancer.stop);
  const wallet = hasAllWays ? openPayerWallet(() => chain.rpcUrl) : undefined;
  const hand = wallet && (await openHandMerchant({ baseUrl: first.baseUrl, apiKey }, wallet));

  return {
    chain,
    network: NETWORK,
    apiKey,
    merchantId,
    ...(wallet !== undefined && hand !== undefined && { wallet, hand }),
    baseUrls: [balancer.url],
    /** True if HAProxy uses every node. */
    isComplete: async () => (await balancer.inUse()) === nodes.length,
    node: (index: number) => nodes[index % nodes.length] as NodeProcess,
    /** Starts a node again that has ended, at the same address. */
    async restart(index: number) {
      const port = new URL((nodes[index % nodes.length] as NodeProcess).baseUrl).port;
      nodes[index % nodes.length] = await start(port);
    },
    /** Kills all nodes at once. */
    killAll,
    rpcUrl: chain.rpcUrl,
    /** The settings of nodes that start from now on. */
    settings: () => settings,
    /** Nodes that start from now on have these settings, too. */
    configure(change: Readonly<Record<string, string>>) {
      settings = { ...settings, ...change };
    },
    compareBooks: () => compareBooks(settings),
  };
}
