import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openRecords } from '../src/actions/records/open-records.ts';
import { createRecordMemory } from '../src/actions/records/remember-records.ts';
import { type Registry, readRegistry } from '../src/chains/registry.ts';
import { checksumAddress } from '../src/domain/addresses/eip155.ts';
import { systemWorld } from '../src/runtime/system-world.ts';
import { type Database, openDatabase } from '../src/store/plumbing/database.ts';
import { createTestDatabase } from '../test/database.ts';
import { globalSetup, globalTeardown } from '../test/global-setup.ts';

/**
 * Run by hand: how much longer a start takes with networks and tokens of the operator. A start reads the files, compares them with
 * the memory of the database, and looks for open work in removed records. Everything else of a start does not know how many there are.
 */
const NETWORKS = 30;
const TOKENS_EACH = 10;
const RUNS = 7;
const ICON = '<svg xmlns="http://www.w3.org/2000/svg" width="48" height="48"><circle cx="24" cy="24" r="24"/></svg>';

function writeNetworks(folder: string): void {
  mkdirSync(join(folder, 'icons'));
  writeFileSync(join(folder, 'icons/token.svg'), ICON);
  for (let network = 0; network < NETWORKS; network += 1) {
    const id = 700_000 + network;
    const tokens = Array.from({ length: TOKENS_EACH }, (_, index) => ({
      address: checksumAddress(`0x${(network * TOKENS_EACH + index + 1).toString(16).padStart(40, 'a')}`),
      symbol: `TOK${index}`,
      name: `Token ${index}`,
      decimals: 6,
      peg: 'USD',
      pay: 'permit2',
      icon: 'icons/token.svg',
    }));
    const record = {
      id: `eip155:${id}`,
      name: `Own ${id}`,
      mode: 'test',
      coin: { symbol: 'OWN', name: 'Own coin', decimals: 18, slip44: 60, icon: 'icons/token.svg' },
      blockTimeMs: 1_000,
      finality: { depth: 2, reason: 'made for this measurement' },
      tokens,
    };
    writeFileSync(join(folder, `eip155-${id}.json`), JSON.stringify(record, null, 2));
  }
}

function registryOf(folder?: string): Registry {
  const read = readRegistry(folder);
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  return read.registry;
}

/** The part of a start that depends on the number of records, in a process that has just begun, as a node has. */
async function startOnce(url: string, folder?: string): Promise<void> {
  const db = openDatabase({ url, poolSize: 2, applicationName: 'till-bench' });
  await db.sql`select 1`;
  const beganMs = performance.now();
  const before = process.cpuUsage();
  await openRecords({ db, registry: registryOf(folder) });
  const { user, system } = process.cpuUsage(before);
  process.stdout.write(`${performance.now() - beganMs} ${(user + system) / 1_000}`);
  await db.close();
}

interface Cost {
  /** Medians, in milliseconds. The processor time hardly depends on other work of the machine. */
  readonly duration: number;
  readonly processor: number;
}

async function measure(url: string, folder?: string): Promise<Cost> {
  const costs: number[][] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const args = [import.meta.filename, url, ...(folder === undefined ? [] : [folder])];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    costs.push(stdout.split(' ').map(Number));
  }
  const median = (which: number) => {
    return costs.map((cost) => cost[which] ?? 0).toSorted((one, other) => one - other)[Math.floor(RUNS / 2)] ?? 0;
  };
  return { duration: median(0), processor: median(1) };
}

async function rememberAll(db: Database, registry: Registry): Promise<void> {
  const memory = createRecordMemory({ db, registry, world: systemWorld });
  for (const { chainId } of registry.networks) await memory.admitNetwork(chainId, null);
  await memory.admit(registry.assets.map(({ id }) => id));
}

async function compare(): Promise<void> {
  await globalSetup();
  const folder = mkdtempSync(join(tmpdir(), 'till-start-records-'));
  const database = await createTestDatabase();
  const db = openDatabase({ url: database.url, poolSize: 2, applicationName: 'till-bench' });
  try {
    writeNetworks(folder);
    await rememberAll(db, registryOf());
    const without = await measure(database.url);
    await rememberAll(db, registryOf(folder));
    const withOwn = await measure(database.url, folder);
    const shown = (which: keyof Cost) =>
      `${(withOwn[which] - without[which]).toFixed(1)} ms more (${without[which].toFixed(1)} ms without, ${withOwn[which].toFixed(1)} ms with)`;
    process.stdout.write(
      `start_records, ${NETWORKS} networks and ${NETWORKS * TOKENS_EACH} tokens; bound: 200 ms more\n`,
    );
    process.stdout.write(`  duration: ${shown('duration')}\n  processor time: ${shown('processor')}\n`);
  } finally {
    await db.close();
    await database.drop();
    rmSync(folder, { recursive: true });
    await globalTeardown();
  }
}

const [url, ownFolder] = process.argv.slice(2);
await (url === undefined ? compare() : startOnce(url, ownFolder));
