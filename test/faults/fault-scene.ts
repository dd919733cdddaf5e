import assert from 'node:assert/strict';
import { pino } from 'pino';
import type { RelaySettings } from '../../src/actions/relay/relayer.ts';
import type { ConnectedChain } from '../../src/chains/chains.ts';
import { connectChains } from '../../src/chains/connect.ts';
import { createEvmChain } from '../../src/chains/evm/evm-chain.ts';
import { createLocalSigner } from '../../src/chains/evm/local-signer.ts';
import type { Finality } from '../../src/chains/network.ts';
import { sandboxRates } from '../../src/rates/sandbox-rates.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import type { Timers, World } from '../../src/runtime/world.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_FIRST_BLOCK, SANDBOX_KEYS, SANDBOX_TOKENS } from '../../src/sandbox/genesis.ts';
import { listAlerts } from '../../src/store/plumbing/alerts.ts';
import { startJobs } from '../../src/workers/loop.ts';
import { payingOutJobs } from '../../src/workers/paying-out.ts';
import { startRelaying } from '../../src/workers/relaying.ts';
import { startWatching } from '../../src/workers/watching.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startTestGateway } from '../gateway.ts';
import { findNetwork } from '../registry.ts';
import { type RpcProxy, startRpcProxy } from '../rpc-proxy.ts';
import { until } from '../until.ts';
import { type FaultChain, startFaultChain } from './fault-chain.ts';
import { openShopper } from './shopper.ts';

export type FaultScene = Awaited<ReturnType<typeof openFaultScene>>;
export type FaultNode = Awaited<ReturnType<typeof startNode>>;

export interface FaultSceneInput {
  /** The finality depth in blocks. */
  readonly depth?: number;
  /** RPC endpoints of the chain, each with its own lies. */
  readonly endpoints?: number;
  readonly payers?: number;
  readonly relaying?: RelaySettings;
  /** True if the gateway has a second network with its own chain. */
  readonly hasSecond?: boolean;
  /** True if the intermediate account pays out held amounts. */
  readonly paysOut?: boolean;
  readonly finality?: Pick<Finality, 'tiers' | 'loneCeiling'>;
  /** The factor by which the adapter's timeouts and pauses are shorter than in production. */
  readonly haste?: number;
}

/** A secret part of every endpoint's URL, which must not leak: with it a stranger could use the operator's quota. */
export const ENDPOINT_SECRET = 'k3y-0f-the-pr0vider';
/** The block time of the network, as the gateway knows it. */
export const BLOCK_MS = 400;
/** Base Sepolia, with its dollar. */
const SECOND = {
  chainId: 84_532,
  token: { address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e', name: 'USDC' },
} as const;
/**
 * The factor by which timeouts are shorter than in production, so that a test waits three seconds for a silent endpoint and not ten. With
 * a factor of ten, a busy machine that answers after 250 ms offered no option for more than a minute.
 */
export const HASTE = 3;

/** A real chain, its scriptable lying endpoints, a database, and a whole gateway that relays and watches. */
export async function openFaultScene(input: FaultSceneInput = {}) {
  const chain = await startFaultChain({ payers: input.payers ?? 12 });
  // The watcher begins behind the block that makes the balances, if that block is final.
  await chain.mine(input.depth ?? 1);
  const proxies = await Promise.all(
    Array.from({ length: input.endpoints ?? 1 }, () => startRpcProxy({ targetUrl: chain.url })),
  );
  const second = input.hasSecond ? await startFaultChain({ ...SECOND, payers: 1 }) : undefined;
  const secondProxy = second && (await startRpcProxy({ targetUrl: second.url }));
  const database = await createTestDatabase();
  const place: Place = { input, database, proxies, second: second && secondProxy && { ...second, proxy: secondProxy } };
  const first = await startNode(place);
  // The timeouts are short. On a busy machine the first check of a network may fail, and is repeated.
  await until('every network offers its tokens', () => first.chains.list().every(offersTokens));
  const nodes = [first];
  const [proxy] = proxies as [RpcProxy];
  const { sql } = first.gateway.db;

  const scene = {
    chain,
    /** The first endpoint. */
    proxy,
    proxies,
    second: place.second,
    node: first,
    sql,
    shopper: await openShopper({ chain, gateway: first.gateway }),
    relayer: SANDBOX_ACCOUNTS.relayer,
    network: `eip155:${chain.chainId}`,
    /** Another node on the same database, with its own connections and clock. */
    async startNode(terms: NodeTerms = {}): Promise<FaultNode> {
      const node = await startNode(place, terms);
      nodes.push(node);
      return node;
    },
    alerts: async () => (await listAlerts(sql)).map(({ name, subject }) => `${name} ${subject}`),
    /** Every stored transaction, in the order of nonces. */
    versions: async () => [
      ...(await sql<{ hash: string; bytes: string; nonce: number; state: string }[]>`
        select v.hash, v.bytes, v.slot::int as nonce, s.state from relay_versions v
        join relay_sends s on s.network = v.network and s.signer = v.signer and s.slot = v.slot
        order by v.slot, v.price`),
    ],
    item: async (paymentId: string) =>
      (await sql`select * from items where subject = ${paymentId}`)[0] as
        | { state: string; signature: string | null; commitment: string; refusal: string | null; deadline: Date }
        | undefined,
    /** The stored transactions that carry the payment. */
    versionsOf: async (paymentId: string) => [
      ...(await sql<{ hash: string; bytes: string; nonce: number }[]>`
        select v.hash, v.bytes, v.slot::int as nonce from items i join relay_items si on si.commitment = i.commitment
        join relay_versions v on v.network = si.network and v.signer = si.signer and v.slot = si.slot
        where i.subject = ${paymentId} order by v.slot, v.price`),
    ],
    /** True if an endpoint was asked to broadcast these bytes. */
    wasSent: (bytes: string | undefined) =>
      proxies.some(({ calls }) => calls.some((call) => isBroadcast(call) && call.params?.[0] === bytes)),
    /** The number of broadcasts to the endpoints. */
    broadcasts: () => proxies.flatMap(({ calls }) => calls).filter(isBroadcast).length,
    /** Makes every endpoint honest again. */
    answerTruthfully() {
      for (const each of [...proxies, ...(secondProxy ? [secondProxy] : [])]) each.answerTruthfully();
    },
    async close() {
      const logged = [...nodes.map((node) => node.log()), ...(await scene.alerts())].join();
      for (const node of nodes.reverse()) await node.stop();
      await Promise.all([...proxies, ...(secondProxy ? [secondProxy] : [])].map((each) => each.close()));
      await Promise.all([chain.close(), second?.close()]);
      await database.drop();
      // F34, under every fault of the scene.
      assert.ok(!logged.includes(ENDPOINT_SECRET), 'no log and no alert names an endpoint');
    },
  };
  return scene;
}

interface Place {
  readonly input: FaultSceneInput;
  readonly database: TestDatabase;
  readonly proxies: readonly RpcProxy[];
  readonly second: (FaultChain & { proxy: RpcProxy }) | undefined;
}

interface NodeTerms {
  /** The error of the node's clock. */
  readonly clockOffMs?: number;
  /** True if it only answers requests, without workers. */
  readonly isIdle?: boolean;
}

async function startNode({ input, database, proxies, second }: Place, terms: NodeTerms = {}) {
  let clockOffMs = terms.clockOffMs ?? 0;
  const clock = { nowMs: () => Date.now() + clockOffMs };
  const world: World = { ...systemWorld, clock };
  const lines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
  const networks = [
    { chainId: 'eip155:31337', urls: proxies.map(({ url }) => url) },
    ...(second === undefined ? [] : [{ chainId: `eip155:${second.chainId}`, urls: [second.proxy.url] }]),
  ];
  const chains = connectChains(
    { world, log },
    networks.map(({ chainId, urls }) => ({
      chain: createEvmChain({
        world: { ...world, timers: hasty(systemWorld.timers, input.haste ?? HASTE) },
        network: {
          ...networkOf(chainId),
          finality: { blockTimeMs: BLOCK_MS, depth: input.depth ?? 1, reason: 'test', ...input.finality },
        },
        endpoints: urls.map((url) => `${url}/v3/${ENDPOINT_SECRET}`),
        log,
      }),
      relayers: [createLocalSigner(SANDBOX_KEYS.relayer)],
      feeAccount: SANDBOX_ACCOUNTS.feeAccount,
      intermediateAccount: SANDBOX_ACCOUNTS.intermediate,
      ...(input.paysOut && { intermediateSigner: createLocalSigner(SANDBOX_KEYS.intermediate) }),
    })),
  );
  await chains.firstCheck;
  const gateway = await startTestGateway({
    databaseUrl: database.url,
    chains,
    rates: sandboxRates(),
    world: { clock },
    log,
  });
  const deps = { ...gateway, world, log };
  const works = terms.isIdle
    ? []
    : [
        startRelaying({ ...deps, ...(input.relaying && { relaying: input.relaying }) }),
        startWatching({ ...deps, watching: { startAt: () => SANDBOX_FIRST_BLOCK } }),
        startJobs(deps, input.paysOut ? payingOutJobs(deps) : []),
      ];
  let isStopped = false;
  return {
    gateway,
    chains,
    /** All its log lines. */
    log: () => lines.join(''),
    /** The number of failed rounds of its workers. */
    failedRounds: () => lines.filter((line) => line.includes('"a round failed"')).length,
    nowMs: clock.nowMs,
    /** Sets its clock forward or back. */
    pass(ms: number) {
      clockOffMs += ms;
    },
    async stop() {
      if (isStopped) return;
      isStopped = true;
      await Promise.all(works.map((stop) => stop()));
      await chains.stop();
      await gateway.stop();
    },
  };
}

function offersTokens({ chain, payable }: ConnectedChain): boolean {
  const tokens = chain.network.chainId === 'eip155:31337' ? Object.values(SANDBOX_TOKENS) : [SECOND.token.address];
  return tokens.every((token) => payable().some((asset) => asset.endsWith(token)));
}

function networkOf(chainId: string) {
  const network = findNetwork(chainId);
  if (network === undefined) throw new Error(`There is no network ${chainId}.`);
  return network;
}

/** Shortens every wait by the factor. */
function hasty(timers: Timers, haste: number): Timers {
  return {
    ...timers,
    after: (delayMs, run) => timers.after(delayMs / haste, run),
    sleep: (delayMs, signal) => timers.sleep(delayMs / haste, signal),
  };
}

const isBroadcast = ({ method }: { method: string }) => method === 'eth_sendRawTransaction';
