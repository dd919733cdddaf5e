import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { keccak256, stringToBytes } from 'viem';
import type { Mode } from '../src/domain/mode.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_KEYS } from '../src/sandbox/genesis.ts';
import { SANDBOX_NETWORK } from '../src/sandbox/sandbox-network.ts';
import type { Reader } from '../src/store/plumbing/database.ts';
import { call } from './calls.ts';
import { prepareCounting } from './database-counts.ts';
import { BENCH_SECRET, openBeside, withDatabaseAlone } from './gateway.ts';
import { createPartners } from './partners.ts';
import { freePort, gatewayArgs, startProcess, stopProcess, until } from './processes.ts';
import { makeFolder, removeFolder } from './temporary.ts';

/** A gateway with a production configuration (networks, a relayer, accounts) on chains of the benchmark. */
export interface PayingGateway {
  readonly port: number;
  readonly pid: number;
  readonly apiKey: string;
  readonly merchants: readonly string[];
  readonly sql: Reader;
  /** Ends the process at once, as a power cut would. */
  kill(): Promise<void>;
  /** Starts a new process on the same data. */
  start(): Promise<void>;
  /** Ends the process and removes the data. */
  stop(): Promise<void>;
}

export interface PayingGatewayInput {
  /** RPC endpoints by CAIP-2. */
  readonly rpcUrls: Readonly<Record<string, readonly string[]>>;
  /** The destination and asset of each merchant: one merchant for each. */
  readonly destinations: readonly { readonly asset: string; readonly destination: string }[];
  readonly mode?: Mode;
  readonly settings?: Readonly<Record<string, string>>;
  /** Set if the work of the database is counted and a profile is taken: the port of the inspector. */
  readonly inspectPort?: number | undefined;
}

const RELAYER_KEY = keccak256(stringToBytes('till benchmark relayer'));
const READY_WITHIN_MS = 180_000;

export async function startPayingGateway(input: PayingGatewayInput): Promise<PayingGateway> {
  const home = await makeFolder();
  if (input.inspectPort !== undefined) await withDatabaseAlone(home, prepareCounting);
  const port = await freePort();
  const settings = {
    TILL_HOME: home,
    PORT: String(port),
    LOG_LEVEL: 'warn',
    METRICS_PORT: '0',
    RATE_LIMIT_KEY_PER_SECOND: '1000000',
    RATE_LIMIT_ADDRESS_PER_SECOND: '1000000',
    SURVEY_ACCOUNTS_PER_KEY: '1000000',
    SURVEY_ACCOUNTS_PER_ADDRESS: '1000000',
    LONG_POLLS_PER_KEY: '20000',
    RPC_URLS: Object.entries(input.rpcUrls)
      .map(([network, urls]) => `${network}=${urls.join(',')}`)
      .join(' '),
    // One relayer, like the peer. The sandbox's own keys are refused on other networks.
    RELAYER_KEYS: `${RELAYER_KEY} ${SANDBOX_NETWORK}=${SANDBOX_KEYS.relayer}`,
    FEE_ACCOUNT: SANDBOX_ACCOUNTS.feeAccount,
    INTERMEDIATE_ACCOUNT: SANDBOX_ACCOUNTS.intermediate,
    TILL_SECRET: Buffer.from(BENCH_SECRET).toString('base64'),
    ...input.settings,
  };
  const launch = async () => {
    const started = startProcess(gatewayArgs(input.inspectPort), settings);
    await until('the gateway is ready', () => readiness(started, port), { withinMs: READY_WITHIN_MS });
    return started;
  };
  let child = await launch();
  const { url } = JSON.parse(await readFile(join(home, 'postgres', 'connection.json'), 'utf8')) as { url: string };
  const db = openBeside(url);
  const [{ apiKey } = { apiKey: '' }] = await createPartners(url, { count: 1, mode: input.mode ?? 'test' });
  const merchants = await createMerchants({ port, apiKey }, input.destinations);
  return {
    port,
    get pid() {
      return child.pid ?? 0;
    },
    apiKey,
    merchants,
    sql: db.sql,
    async kill() {
      child.kill('SIGKILL');
      await until('the gateway has ended', async () => (child.signalCode === null ? undefined : true), {
        withinMs: READY_WITHIN_MS,
      });
    },
    async start() {
      child = await launch();
    },
    async stop() {
      await db.close();
      await stopProcess(child);
      await removeFolder(home);
    },
  };
}

async function readiness(child: ChildProcess, port: number): Promise<true | undefined> {
  if (child.exitCode !== null) throw new Error('The gateway ended at its start.');
  const answer = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => undefined);
  return answer?.ok ? true : undefined;
}

/** The setup that a partner would do over the API. */
async function createMerchants(
  { port, apiKey }: { port: number; apiKey: string },
  destinations: PayingGatewayInput['destinations'],
): Promise<string[]> {
  const post = async <T>(path: string, key: string, body: unknown) => {
    const headers = { 'Api-Key': apiKey, 'Idempotency-Key': key, 'Content-Type': 'application/json' };
    return JSON.parse((await call({ port, method: 'POST', path, headers, body: JSON.stringify(body) })).text) as T;
  };
  const ids: string[] = [];
  for (const [index, settlement] of destinations.entries()) {
    const names = { merchantName: `Shop ${index}`, merchantEmail: 'shop@example.com' };
    const { merchant } = await post<{ merchant: { id: string } }>('/v1/merchants', `shop-${index}`, names);
    await post(`/v1/merchants/${merchant.id}/settlements/crypto`, `to-${index}`, { settlements: [settlement] });
    ids.push(merchant.id);
  }
  return ids;
}
