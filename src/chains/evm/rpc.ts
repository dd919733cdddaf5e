import { backoffMs, withJitter } from '../../runtime/backoff.ts';
import { createSparseWarning } from '../../runtime/sparse-log.ts';
import type { Log, World } from '../../runtime/world.ts';
import { ChainUnavailableError, UnreadableAnswerError } from '../chain.ts';
import { createAttempts } from './attempts.ts';
import { createEndpoint, type Endpoint } from './endpoint.ts';
import type { EndpointFailure, RpcCall } from './json-rpc.ts';
import { readNumber } from './rpc-values.ts';
import { httpTransport, type Transport } from './transport.ts';

/**
 * The endpoints of one network as one. A call goes to the first that can be asked, then to the next, until one gives an
 * answer that can be believed. When none does, it rejects with `ChainUnavailableError`; when all that they say is that a
 * contract did not do its part, with `ContractFaultError`.
 */
export interface Rpc {
  readonly endpoints: readonly Endpoint[];
  call<T>(call: RpcCall<T>, timeoutMs?: number): Promise<T>;
  /** Asks this endpoint and no other. */
  callOne<T>(endpoint: Endpoint, call: RpcCall<T>): Promise<T>;
  /** The endpoints, those that can be relied on most first. */
  inOrder(): readonly Endpoint[];
  /** Asks every endpoint; undefined stands for one that could not answer. */
  callEach<T>(call: RpcCall<T>): Promise<readonly (T | undefined)[]>;
  endpointsUp(): number;
  /** What is wrong with endpoints now, one sentence for each. */
  troubles(): readonly string[];
  /** The highest block any endpoint has told of. */
  head(): number | undefined;
  /** The highest block that two endpoints have told of, where there are two: one alone may claim any. */
  sharedHead(): number | undefined;
  close(): void;
}

export interface RpcInput {
  readonly world: World;
  /** CAIP-2, for errors and logs. */
  readonly network: string;
  readonly chainId: number;
  readonly blockTimeMs: number;
  /** Addresses, in the order of preference; a test may hand in a way of its own to reach an endpoint. */
  readonly endpoints: readonly (string | Transport)[];
  readonly callsPerS?: number;
  readonly log?: Log | undefined;
}

const DEFAULT_TIMEOUT_MS = 10_000;
/** Of a call to one endpoint, for which others may be waiting. */
const ONE_TIMEOUT_MS = 4_000;
/** Above what any provider allows; a lower limit is learned from its refusals. */
const DEFAULT_CALLS_PER_S = 20_000;
/** A replica lags or a connection breaks for a moment: that often all endpoints are gone through before it counts. */
const MAX_ROUNDS = 6;
const ROUND_PAUSE = { firstMs: 100, maxMs: 400 };
/** The part of its time that a call waits for one endpoint before it asks another beside it; twice as long in each round. */
const FIRST_HEDGE = 8;
/** With every endpoint left alone, a call waits this long for one to come back: most outages are shorter. */
const PATIENCE_MS = 3_000;
/** And no longer than this after the last answer: callers of a network that is down hear so at once. */
const RECENT_MS = 10_000;
/** An endpoint this far behind another one does not follow the chain any more. */
const MAX_LAG_MS = 15_000;
const MAX_LAG_MIN_BLOCKS = 3;
/** While the first endpoint answers, the others are not needed; but only they can tell that it has stopped following. */
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
      transport: typeof endpoint === 'string' ? httpTransport(endpoint) : endpoint,
      chainId: input.chainId,
      callsPerS: input.callsPerS ?? DEFAULT_CALLS_PER_S,
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
  /** Resolves when an endpoint is left alone, or is asked again. */
  let news = Promise.withResolvers<void>();
  let isClosed = false;
  let glancedMs = world.clock.nowMs();

  function call<T>(asked: RpcCall<T>, timeoutMs = DEFAULT_TIMEOUT_MS): Promise<T> {
    glanceAtAll();
    // What has not answered for long is not waited for: a probe finds out when it is back.
    const isWorthWaiting = (endpoint: Endpoint) => endpoint.isThrottling() || endpoint.answeredWithin(RECENT_MS);
    return within({ asked, timeoutMs, among: endpoints, isWorthWaiting });
  }

  function callOne<T>(endpoint: Endpoint, asked: RpcCall<T>): Promise<T> {
    // An endpoint that is down is a witness that keeps silent. One whose calls are rationed answers in a moment.
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
   * One endpoint after the other, and round after round. An endpoint that keeps silent is not waited for: the next one is
   * asked beside it, and the first good answer wins.
   */
  async function goThroughAll<T>(order: Order<T>, isOver: () => boolean): Promise<T> {
    const { asked, timeoutMs, among } = order;
    // With somebody else to ask, half the time must be left for that.
    const attemptMs = among.length > 1 ? Math.ceil(timeoutMs / 2) : timeoutMs;
    const attempts = createAttempts<T>(world.timers);
    const begin = (endpoint: Endpoint) =>
      attempts.begin(endpoint.name, endpoint.ask(asked, attemptMs), (answer) => asked.isFlawed?.(answer) ?? false);
    for (let round = 0; round < MAX_ROUNDS && !attempts.isDecided() && !isOver(); round += 1) {
      if (attempts.isPointless()) break;
      if (round > 0) await attempts.settleWithin(withJitter(world, backoffMs(ROUND_PAUSE, round)));
      const ready = await askable(order);
      if (ready.length === 0) break;
      // An endpoint that has kept this very call waiting is asked a second time only when there is no other.
      const others = ready.filter(({ name }) => !attempts.isPending(name));
      for (const endpoint of others.length > 0 ? others : ready) {
        if (attempts.isDecided() || isOver()) break;
        begin(endpoint);
        await attempts.settleWithin((timeoutMs / FIRST_HEDGE) * 2 ** round);
      }
    }
    while (attempts.isPending() && !attempts.isDecided() && !isOver()) await attempts.settleWithin(timeoutMs);
    const { good, flawed, contractFault, failures } = attempts.outcome();
    if (flawed !== undefined) {
      warn?.(`${flawed.by} ${asked.method}`, { network, endpoint: flawed.by, method: asked.method }, FLAWED);
    }
    // An answer with a part that nobody can read is better than none: the part is set aside, and the rest goes on.
    const found = good ?? flawed;
    if (found !== undefined) return found.answer;
    // An endpoint may be wrong about a contract: it counts as faulty when no other endpoint has a better answer.
    if (contractFault !== undefined) throw contractFault;
    const UnavailableError = attempts.isPointless() ? UnreadableAnswerError : ChainUnavailableError;
    throw new UnavailableError(network, explain(asked.method, among, failures));
  }

  /** Asks every endpoint how far it has come, now and then. Nobody waits for it. */
  function glanceAtAll(): void {
    const nowMs = world.clock.nowMs();
    if (endpoints.length === 1 || Math.abs(nowMs - glancedMs) < GLANCE_EVERY_MS) return;
    glancedMs = nowMs;
    void callEach(HEAD_CALL);
  }

  async function callEach<T>(asked: RpcCall<T>): Promise<readonly (T | undefined)[]> {
    return Promise.all(
      endpoints.map((endpoint) =>
        // One that is left alone is not asked here either: its silence is an answer soon enough.
        endpoint.readyInMs() === Number.POSITIVE_INFINITY
          ? undefined
          : endpoint.ask(asked, DEFAULT_TIMEOUT_MS / 2).catch(() => undefined),
      ),
    );
  }

  /** Endpoints that can be asked, the trusted ones first; when there is none now, it waits for one that is worth it. */
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

/** A call, whom to ask, and how long for. */
interface Order<T> {
  readonly asked: RpcCall<T>;
  readonly timeoutMs: number;
  readonly among: readonly Endpoint[];
  /** Whether to wait for an endpoint when none can be asked. */
  readonly isWorthWaiting: (endpoint: Endpoint) => boolean;
}

const FLAWED = 'RPC endpoint gave an answer with a part that cannot be read';

/** The order of preference, but for endpoints whose last requests failed or that lag behind: they come last. */
function inOrder(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const doubts = new Map(endpoints.map((endpoint) => [endpoint, Math.min(endpoint.doubts(), MOST_DOUBTS)]));
  return endpoints.toSorted((a, b) => (doubts.get(a) ?? 0) - (doubts.get(b) ?? 0));
}

/** Infinity cannot be subtracted from itself. */
const MOST_DOUBTS = 1_000_000;

function headsOf(endpoints: readonly Endpoint[]): number[] {
  return endpoints.flatMap((endpoint) => endpoint.head() ?? []);
}

/** The height that two endpoints have reached, where there are two: one alone may claim any. */
function believableHead(endpoints: readonly Endpoint[]): number {
  const [highest = Number.NEGATIVE_INFINITY, second] = headsOf(endpoints).sort((a, b) => b - a);
  return second ?? highest;
}
