import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { startSandboxChain } from '../../src/sandbox/chain-process.ts';
import { connectTo, createTestDatabase } from '../database.ts';
import { type NodeProcess, startNodeProcess } from '../node-process.ts';

export type OwnChainScene = Awaited<ReturnType<typeof openOwnChainScene>>;

/** A database and a chain, for any number of real nodes that come and go. */
export async function openOwnChainScene() {
  const folder = await mkdtemp(join(tmpdir(), 'till-nodes-'));
  const database = await createTestDatabase();
  const sql = connectTo(database.url);
  const chain = await startSandboxChain(
    { world: systemWorld, log: pino({ level: 'silent' }) },
    { dir: join(folder, 'chain'), blockMs: 250 },
  );
  const secret = randomBytes(32).toString('base64');
  const started: NodeProcess[] = [];
  return {
    sql,
    started: started as readonly NodeProcess[],
    async start(settings: Readonly<Record<string, string>>, args: readonly string[] = []): Promise<NodeProcess> {
      const node = await startNodeProcess(
        {
          TILL_HOME: join(folder, 'home'),
          TILL_SECRET: secret,
          DATABASE_URL: database.url,
          RPC_URLS: `eip155:31337=${chain.rpcUrl}`,
          ...settings,
        },
        args,
      );
      started.push(node);
      return node;
    },
    async close(): Promise<void> {
      for (const node of started) node.signal('SIGKILL');
      await Promise.all(started.map(({ ended }) => ended));
      await chain.stop();
      await sql.end();
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
