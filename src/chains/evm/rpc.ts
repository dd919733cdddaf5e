import { backoffMs, withJitter } from '../../runtime/backoff.ts';
import { createSparseWarning } from '../../runtime/sparse-log.ts';
import type { Log, World } from '../../runtime/world.ts';
import { ChainUnavailableError, UnreadableAnswerError } from '../chain-errors.ts';
import { createAttempts } from './attempts.ts';
import { createEndpoint, type Endpoint } from './endpoint.ts';
import type { EndpointFailure, RpcCall } from './json-rpc.ts';
import { readNumber } from './rpc-values.ts';
import { tracedTransport } from './traced-transport.ts';
import { httpTransport, type Transport } from './transport.ts';

/**
 * The endpoints of one network, with failover. A call goes to one endpoint after the other until an answer is usable. Without a
 * usable answer the call rejects with `ChainUnavailableError`, or with `ContractFaultError` if the endpoints report a faulty
 * contract.
 */
export interface Rpc {
  readonly endpoints: readonly Endpoint[];
  call<T>(call: RpcCall<T>, timeoutMs?: number): Promise<T>;
  callOne<T>(endpoint: Endpoint, call: RpcCall<T>): Promise<T>;
  /** The endpoints, the most reliable first. */
  inOrder(): readonly Endpoint[];
  /** Asks every endpoint. Undefined stands for an endpoint without an answer. */
  callEach<T>(call: RpcCall<T>): Promise<readonly (T | undefined)[]>;
  endpointsUp(): number;
  /** The current problems of endpoints, one sentence for each. */
  troubles(): readonly string[];
  /** Sends fewer calls to the endpoint at this index, because its provider refused calls of another pool. */
  slowDown(index: number): void;
  /** The highest block reported by any endpoint. */
  head(): number | undefined;
  /** The highest block that two endpoints have reached, if there are two, because a single endpoint may claim any height. */
  sharedHead(): number | undefined;
  close(): void;
}

export interface RpcInput {
  readonly world: World;
  /** The CAIP-2 id of the network, for errors and logs. */
  readonly network: string;
  readonly chainId: number;
  readonly blockTimeMs: number;
  /** The hash of block 0, once it is known. */
  readonly genesis?: (() => string | undefined) | undefined;
  /** URLs, the preferred endpoint first. A test may pass its own transport. */
  readonly endpoints: readonly (string | Transport)[];
  readonly callsPerS?: number;
  readonly log?: Log | undefined;
  /** True for requests that the public can cause. They yield to all other calls. See `EndpointInput`. */
  readonly isYielding?: boolean;
  /** Called with the index of an endpoint whose provider asks for fewer calls. */
  readonly onThrottled?: (index: number) => void;
}

const DEFAULT_TIMEOUT_MS = 10_000;
/** The timeout of a call to a single endpoint. It is short, because callers wait for the answers of all endpoints that they ask. */
const ONE_TIMEOUT_MS = 4_000;
/** The default rate is above the limit of any provider. The real limit is learned from refusals. */
const DEFAULT_CALLS_PER_S = 20_000;
/** The rounds through all endpoints before a call fails. Several are needed because replicas lag and connections break briefly. */
const MAX_ROUNDS = 6;
const ROUND_PAUSE = { firstMs: 100, maxMs: 400 };
/**
 * The fraction of its timeout (an eighth) after which a call also asks another endpoint. If the only endpoint left has not
 * answered yet, the wait before it is asked again doubles in each round, so that a slow endpoint gets few requests.
 */
const HEDGE = 8;
/** The time for which a call waits for an endpoint to come back, if every breaker is open. Most outages are shorter. */
const PATIENCE_MS = 3_000;
/** A call waits only for an endpoint that answered within this time. If the network is down for longer, the call fails at once. */
const RECENT_MS = 10_000;
/** An endpoint that lags behind another endpoint by more than this counts as no longer following the chain. */
const MAX_LAG_MS = 15_000;
const MAX_LAG_MIN_BLOCKS = 3;
/**
 * The interval at which all endpoints are asked for their height. While the first endpoint answers, the others receive no calls,
 * but only their heights can show that the first endpoint no longer follows the chain.
 */
const GLANCE_EVERY_MS = 5_000;

const HEAD_CALL: RpcCall<number> = { method: 'eth_blockNumber', params: [], read: readNumber, toleratesLag: true };

export function createRpc(input: RpcInput): Rpc {
  const { world, network, log } = input;
  const maxLag = Math.max(MAX_LAG_MIN_BLOCKS, Math.ceil(MAX_LAG_MS / input.blockTimeMs));
  const warn = log && createSparseWarning(world.clock, log);
  const endpoints: readonly Endpoint[] = input.endpoints.map((endpoint, index) => {
    const name = `endpoint ${index + 1}`;
    return createEndpoint({
      name,
      world,
      transport: tracedTransport(world.tracing, typeof endpoint === 'string' ? httpTransport(endpoint) : endpoint, {
        network,
        endpoint: index + 1,
      }),
      chainId: input.chainId,
      genesis: input.genesis,
      callsPerS: input.callsPerS ?? DEFAULT_CALLS_PER_S,
      isYielding: input.isYielding,
      onThrottled: () => input.onThrottled?.(index),
      minHead: () => believableHead(endpoints.filter((_, other) => other !== index)) - maxLag,
      onChange: (trouble) => {
        news.resolve();
        news = Promise.withResolvers();
        const subject = { network, endpoint: name };
        if (trouble === undefined) log?.debug(subject, 'RPC endpoint is asked again');
        else warn?.(`${name} ${trouble}`, { ...subject, reason: trouble }, 'RPC endpoint is left alone for a moment');
      },
    });
  });
  /** Resolves when the breaker of an endpoint opens or closes. */
  let news = Promise.withResolvers<void>();
  let isClosed = false;
  let glancedMs = world.clock.nowMs();

  function call<T>(asked: RpcCall<T>, timeoutMs = DEFAULT_TIMEOUT_MS): Promise<T> {
    glanceAtAll();
    // A call does not wait for an endpoint that has been silent for long. A probe detects when the endpoint answers again.
    const isWorthWaiting = (endpoint: Endpoint) => endpoint.isThrottling() || endpoint.answeredWithin(RECENT_MS);
    return within({ asked, timeoutMs, among: endpoints, isWorthWaiting });
  }

  function callOne<T>(endpoint: Endpoint, asked: RpcCall<T>): Promise<T> {
    // The call does not wait for an endpoint whose breaker is open: the caller counts it as a witness without an answer. The call
    // waits for an endpoint that asked for a pause, or whose call budget is used up.
    const isWorthWaiting = () => endpoint.isThrottling() || Number.isFinite(endpoint.readyInMs());
    return within({ asked, timeoutMs: ONE_TIMEOUT_MS, among: [endpoint], isWorthWaiting });
  }

  async function within<T>(order: Order<T>): Promise<T> {
    const { timeoutMs } = order;
    let isOver = false;
    const cancelTimer = world.timers.after(timeoutMs, () => {
      isOver = true;
    });
    try {
      return await goThroughAll(order, () => isOver || isClosed);
    } finally {
      cancelTimer();
    }
  }

  /**
   * Asks the endpoints one after the other, in several rounds. If one is slow, the next is asked in parallel, and the first good
   * answer wins.
   */
  async function goThroughAll<T>(order: Order<T>, isOver: () => boolean): Promise<T> {
    const { asked, timeoutMs, among } = order;
    // If there are several endpoints, a single attempt may take at most half of the time, so that time is left for another
    // endpoint.
    const attemptMs = among.length > 1 ? Math.ceil(timeoutMs / 2) : timeoutMs;
    const attempts = createAttempts<T>(world.timers);
    const begin = (endpoint: Endpoint) =>
      attempts.begin(endpoint.name, endpoint.ask(asked, attemptMs), (answer) => asked.isFlawed?.(answer) ?? false);
    for (let round = 0; round < MAX_ROUNDS && !attempts.isDecided() && !isOver(); round += 1) {
      if (attempts.isPointless()) break;
      if (round > 0) await attempts.settleWithin(withJitter(world, backoffMs(ROUND_PAUSE, round)));
      // An endpoint with a pending attempt of this call is asked a second time only if there is no other endpoint. A throttled
      // endpoint will accept the call soon, so the call waits for it.
      const isOther = ({ name }: Endpoint) => !attempts.isPending(name);
      const waitMs = () => rationMs(among.filter(isOther));
      while (attempts.isPending() && !attempts.isDecided() && !isOver() && waitMs() > 0) {
        await attempts.settleWithin(Math.min(waitMs(), timeoutMs));
      }
      const ready = await askable(order);
      if (ready.length === 0) break;
      const others = ready.filter(isOther);
      const [next, waits] = others.length > 0 ? [others, 1] : [ready, 2 ** round];
      for (const endpoint of next) {
        if (attempts.isDecided() || isOver()) break;
        begin(endpoint);
        await attempts.settleWithin((timeoutMs / HEDGE) * waits);
      }
    }
    while (attempts.isPending() && !attempts.isDecided() && !isOver()) await attempts.settleWithin(timeoutMs);
    const { good, flawed, contractFault, failures } = attempts.outcome();
    if (flawed !== undefined) {
      warn?.(`${flawed.by} ${asked.method}`, { network, endpoint: flawed.by, method: asked.method }, FLAWED);
    }
    // A partly unreadable answer is better than none: the unreadable part is set aside, and the rest is used.
    const found = good ?? flawed;
    if (found !== undefined) return found.answer;
    // An endpoint may be wrong about a contract, so the contract counts as faulty only if no endpoint has a better answer.
    if (contractFault !== undefined) throw contractFault;
    const UnavailableError = attempts.isPointless() ? UnreadableAnswerError : ChainUnavailableError;
    throw new UnavailableError(network, explain(asked.method, among, failures));
  }

  /** Asks every endpoint for its height, in the background and at most once per interval. */
  function glanceAtAll(): void {
    const nowMs = world.clock.nowMs();
    if (endpoints.length === 1 || Math.abs(nowMs - glancedMs) < GLANCE_EVERY_MS) return;
    glancedMs = nowMs;
    void callEach(HEAD_CALL);
  }

  async function callEach<T>(asked: RpcCall<T>): Promise<readonly (T | undefined)[]> {
    return Promise.all(
      endpoints.map((endpoint) =>
        // An endpoint with an open breaker is skipped, because its probe checks it.
        endpoint.readyInMs() === Number.POSITIVE_INFINITY
          ? undefined
          : endpoint.ask(asked, DEFAULT_TIMEOUT_MS / 2).catch(() => undefined),
      ),
    );
  }

  /** The available endpoints, trusted endpoints first. If none is available, waits for one that answered recently. */
  async function askable({ among, timeoutMs, isWorthWaiting }: Order<unknown>): Promise<readonly Endpoint[]> {
    const ready = () => inOrder(among.filter((endpoint) => endpoint.readyInMs() === 0));
    if (ready().length > 0) return ready();
    const limit = new AbortController();
    const patienceMs = Math.min(timeoutMs, PATIENCE_MS);
    const cancelTimer = world.timers.after(patienceMs, () => limit.abort());
    const isWaiting = () => ready().length === 0 && !limit.signal.aborted && !isClosed;
    try {
      while (isWaiting() && among.some(isWorthWaiting)) {
        const soonestMs = Math.min(patienceMs, ...among.map((endpoint) => endpoint.readyInMs()));
        await Promise.race([world.timers.sleep(soonestMs, limit.signal), news.promise]);
      }
    } finally {
      cancelTimer();
      limit.abort();
    }
    return ready();
  }

  function explain(method: string, among: readonly Endpoint[], failures: ReadonlyMap<string, EndpointFailure>): string {
    if (isClosed) return 'the connection was closed';
    const reasons = among.map((endpoint) => {
      const reason = failures.get(endpoint.name)?.message ?? endpoint.trouble();
      return `${endpoint.name} ${reason ?? 'takes no more calls for now'}`;
    });
    return `no endpoint answered ${method}: ${reasons.join(', ')}`;
  }

  return {
    endpoints,
    call,
    callOne,
    inOrder: () => inOrder(endpoints),
    callEach,
    endpointsUp: () => endpoints.filter((endpoint) => endpoint.isUp()).length,
    troubles: () =>
      endpoints.flatMap((endpoint) => {
        const trouble = endpoint.trouble();
        return trouble === undefined ? [] : [`${endpoint.name} ${trouble}`];
      }),
    slowDown: (index) => endpoints[index]?.slowDown(),
    head: () => {
      const head = Math.max(...headsOf(endpoints));
      return Number.isFinite(head) ? head : undefined;
    },
    sharedHead: () => {
      const head = believableHead(endpoints);
      return Number.isFinite(head) ? head : undefined;
    },
    close: () => {
      isClosed = true;
      news.resolve();
      for (const endpoint of endpoints) endpoint.close();
    },
  };
}

interface Order<T> {
  readonly asked: RpcCall<T>;
  readonly timeoutMs: number;
  readonly among: readonly Endpoint[];
  /** True if a call should wait for this endpoint when none is available. */
  readonly isWorthWaiting: (endpoint: Endpoint) => boolean;
}

const FLAWED = 'RPC endpoint gave an answer with a part that cannot be read';

/** The endpoints in the order of preference. Endpoints whose latest requests failed or that lag behind come last. */
function inOrder(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const doubts = new Map(endpoints.map((endpoint) => [endpoint, Math.min(endpoint.doubts(), MOST_DOUBTS)]));
  return endpoints.toSorted((a, b) => (doubts.get(a) ?? 0) - (doubts.get(b) ?? 0));
}

/** A finite stand-in for infinite doubts in the sort, because Infinity minus Infinity is NaN. */
const MOST_DOUBTS = 1_000_000;

/** Milliseconds until a throttled endpoint accepts calls again. 0 if one accepts calls now, or if all breakers are open. */
function rationMs(endpoints: readonly Endpoint[]): number {
  const ms = Math.min(...endpoints.map((endpoint) => endpoint.readyInMs()));
  return Number.isFinite(ms) ? ms : 0;
}

function headsOf(endpoints: readonly Endpoint[]): number[] {
  return endpoints.flatMap((endpoint) => endpoint.head() ?? []);
}

/** The height that two endpoints have reached, if there are two, because a single endpoint may claim any height. */
function believableHead(endpoints: readonly Endpoint[]): number {
  const [highest = Number.NEGATIVE_INFINITY, second] = headsOf(endpoints).sort((a, b) => b - a);
  return second ?? highest;
}
