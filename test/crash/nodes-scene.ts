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
import { compareBooks, NETWORK, type NodeSettings, nodeSettings } from './settings.ts';

const BLOCK_MS = 250;
const SERVER_CONNECTIONS = 20;
/** Longer than two checks of HAProxy. */
const DRAIN_MS = 2_500;

export const missingForNodes = () => missingHaproxy() || missingPgBouncer() || missingReplication();

export type NodesScene = Awaited<ReturnType<typeof openNodesScene>>;

/** Three nodes behind HAProxy, on PgBouncer and a PostgreSQL with a synchronous standby. */
export async function openNodesScene() {
  const folder = await mkdtemp(join(tmpdir(), 'till-three-nodes-'));
  await chmod(folder, 0o777);
  const deps = { world: systemWorld, log: pino({ level: 'silent' }) };
  const servers = await startReplicatedPostgres();
  const pgBouncer = await startPgBouncer(servers.primary.url, { serverConnections: SERVER_CONNECTIONS });
  const chain = await startSandboxChain(deps, { dir: join(folder, 'chain'), blockMs: BLOCK_MS });
  let settings: NodeSettings & Readonly<Record<string, string>> = {
    ...nodeSettings({ folder, databaseUrl: pgBouncer.url, rpcUrl: chain.rpcUrl }),
    DATABASE_DIRECT_URL: servers.url,
    DRAIN_MS: String(DRAIN_MS),
  };
  const start = (port?: string) => startNodeProcess({ ...settings, ...(port !== undefined && { PORT: port }) });
  // The first one migrates, and makes the merchant.
  const first = await start();
  const { apiKey, merchantId } = await first.ready();
  const nodes: [NodeProcess, NodeProcess, NodeProcess] = [first, await start(), await start()];
  await Promise.all(nodes.map((node) => node.ready()));
  const [, second, third] = nodes;
  const balancer = await startHaproxy([first.baseUrl, second.baseUrl, third.baseUrl]);

  return {
    chain,
    network: NETWORK,
    apiKey,
    merchantId,
    baseUrls: [balancer.url],
    /** True if HAProxy uses every node. */
    isComplete: async () => (await balancer.inUse()) === nodes.length,
    node: (index: number) => nodes[index % nodes.length] as NodeProcess,
    /** Starts a node again that has ended, at the same address. */
    async restart(index: number) {
      const port = new URL((nodes[index % nodes.length] as NodeProcess).baseUrl).port;
      nodes[index % nodes.length] = await start(port);
    },
    /** Kills the primary, promotes its standby, and leads PgBouncer there. */
    async failOver() {
      await servers.primary.signal('SIGKILL');
      await servers.promoteStandby();
      await pgBouncer.pointAt(servers.standby.url);
    },
    rpcUrl: chain.rpcUrl,
    /** The settings of nodes that start from now on. */
    get settings() {
      return settings;
    },
    /** Nodes that start from now on have these settings, too. */
    configure(change: Readonly<Record<string, string>>) {
      settings = { ...settings, ...change };
    },
    compareBooks: () => compareBooks(settings),
    async close() {
      for (const node of nodes) node.signal('SIGKILL');
      await Promise.all(nodes.map(({ ended }) => ended));
      await Promise.all([balancer.stop(), chain.stop(), pgBouncer.stop()]);
      await servers.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
