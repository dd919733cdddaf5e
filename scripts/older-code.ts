import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { keccak256, stringToBytes } from 'viem';

/** The code of an older commit, and its sandbox chain. */

const ROOT = join(import.meta.dirname, '..');
const BLOCK_MS = 100;
/** Longer than the making of a fixture, so that no block is mined before its end. */
const HALTED_BLOCK_MS = 86_400_000;

export const SANDBOX = 'eip155:31337';
export const USDC = `${SANDBOX}/erc20:0x4e4707DE5c8431f59Fa45A904854551c692C04f9`;
const EURC = `${SANDBOX}/erc20:0x4eBF6fD78A6439A4b0C281D24Ce95d4C536CF40B`;
export const USDT = `${SANDBOX}/erc20:0x868155088756156b8E18550A345d37ab5BFda311`;
/** The Transfer topic of tokens. */
const TRANSFER = keccak256(stringToBytes('Transfer(address,address,uint256)'));

/** A module of the older code, by its path there. The compiler does not know its types. */
export type Old = ReturnType<typeof loaderOf>;

/** A value of the older code. The compiler does not know its type. */
export type Value = Awaited<ReturnType<Old>>;

function loaderOf(tree: string) {
  return (path: string) => import(pathToFileURL(join(tree, path)).href);
}

/**
 * Unpacks the code of the commit into a separate folder, with the packages of this checkout, and lets it make the fixture. The
 * second argument is the folder of its chain.
 */
export async function writeFixture(
  commit: string,
  make: (old: Old, chainDir: string) => Promise<object>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'till-upgrade-'));
  const tree = join(folder, 'tree');
  await mkdir(tree);
  execFileSync('sh', ['-c', `git archive ${commit} | tar -x -C '${tree}'`], { cwd: ROOT });
  execFileSync('cp', ['-al', join(ROOT, 'node_modules'), join(tree, 'node_modules')]);
  const old = loaderOf(tree);
  const { globalSetup, globalTeardown } = await old('test/global-setup.ts');
  await globalSetup();
  try {
    const fixture = { commit, ...(await make(old, join(folder, 'chain'))) };
    const file = join(ROOT, 'test/fixtures', `upgrade-${commit}.json.gz`);
    await writeFile(file, gzipSync(JSON.stringify(fixture), { level: 9 }));
    process.stdout.write(`${file}\n`);
  } finally {
    await globalTeardown();
    await rm(folder, { recursive: true, force: true });
  }
}

export type OlderChain = Awaited<ReturnType<typeof openChain>>;

/** The sandbox chain of the older code in the time of that world, whose blocks can be halted. */
export async function openChain(old: Old, { dir, world }: { readonly dir: string; readonly world: Value }) {
  const { openKeptChain } = await old('src/sandbox/kept-chain.ts');
  const onBroken = (error: unknown) => {
    throw error;
  };
  const open = (blockMs: number) => openKeptChain(world, { dir, blockMs, isScriptable: false, onBroken });
  let chain = await open(BLOCK_MS);
  const answer = (call: { method: string }) =>
    call.method === 'eth_sendRawTransaction' ? chain.send(call) : chain.pass(call);
  const server = createServer(async (request, response) => {
    const asked = JSON.parse(await text(request));
    const reply = Array.isArray(asked) ? `[${(await Promise.all(asked.map(answer))).join()}]` : await answer(asked);
    response.setHeader('content-type', 'application/json').end(reply);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ask: async (method: string, params: readonly unknown[]) => {
      const { result, error } = JSON.parse(await answer({ id: 1, method, params } as { method: string }));
      if (error !== undefined) throw new Error(error.message);
      return result;
    },
    async halt() {
      await chain.close();
      chain = await open(HALTED_BLOCK_MS);
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await chain.close();
    },
    /** The files of the closed chain. */
    files: async () => ({
      genesis: await readFile(join(dir, 'genesis.json'), 'utf8'),
      journal: await readFile(join(dir, 'journal'), 'latin1'),
    }),
  };
}

/** The rows of every table, as JSON. */
export async function readTables(sql: Value): Promise<Record<string, string>> {
  const tables: Record<string, string> = {};
  const names = await sql`select tablename as name from pg_tables where schemaname = 'public' order by 1`;
  for (const { name } of names) {
    // As text: numbers of 78 digits would lose precision.
    const [row] = await sql.unsafe(`select coalesce(json_agg(t), '[]')::text as rows from ${name} t`);
    tables[name] = row.rows;
  }
  return tables;
}

/** Books the initial tokens of the intermediate account as the operator's float. */
export async function adoptTokens(
  chain: OlderChain,
  intermediate: string,
  addFloat: (input: { owner: string; asset: string; transactionHash: string }) => Promise<unknown>,
): Promise<void> {
  const to = `0x${intermediate.slice(2).toLowerCase().padStart(64, '0')}`;
  for (const asset of [USDC, EURC, USDT]) {
    const token = { address: asset.slice(asset.lastIndexOf(':') + 1), topics: [TRANSFER, null, to] };
    const [{ transactionHash }] = await chain.ask('eth_getLogs', [{ ...token, fromBlock: '0x1', toBlock: '0x1' }]);
    await addFloat({ owner: 'operator', asset, transactionHash });
  }
}

type Worker = 'relaying' | 'watching' | 'jobs' | 'books';

/** The workers of the older code, each started and stopped alone. */
export async function workersOf(old: Old, gateway: Value, watching: object) {
  const { startRelaying } = await old('src/workers/relaying.ts');
  const { startWatching } = await old('src/workers/watching.ts');
  const { startJobs } = await old('src/workers/loop.ts');
  const { payingOutJobs } = await old('src/workers/paying-out.ts');
  const { housekeepingJobs } = await old('src/workers/housekeeping.ts');
  const { startBookkeeping } = await old('src/workers/bookkeeping.ts');
  const starters: Record<Worker, () => () => Promise<void>> = {
    relaying: () => startRelaying(gateway),
    watching: () => startWatching({ ...gateway, watching }),
    jobs: () => startJobs(gateway, [...housekeepingJobs(gateway), ...payingOutJobs(gateway)]),
    books: () => startBookkeeping(gateway),
  };
  const running = new Map<Worker, () => Promise<void>>();
  return {
    start(...names: Worker[]): void {
      for (const name of names) running.set(name, starters[name]());
    },
    async stop(...names: Worker[]): Promise<void> {
      for (const name of names) await running.get(name)?.();
      for (const name of names) running.delete(name);
    },
  };
}
