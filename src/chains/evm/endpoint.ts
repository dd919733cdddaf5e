import { type Batcher, createBatcher } from '../../runtime/batcher.ts';
import type { World } from '../../runtime/world.ts';
import { ContractFaultError } from '../chain-errors.ts';
import { createBreaker } from './breaker.ts';
import { createCallBudget } from './call-budget.ts';
import { type Answer, EndpointFailure, isThrottling, type RpcCall, readResponse, writeRequest } from './json-rpc.ts';
import { readFields, readHash, readNumber } from './rpc-values.ts';
import type { Transport } from './transport.ts';

/** One RPC endpoint. Its answers count only while it reports the right chain id and keeps up with the other endpoints. */
export interface Endpoint {
  /** The name in logs and errors: the endpoint's number in the configuration, never its URL. */
  readonly name: string;
  isUp(): boolean;
  /** The reason why the endpoint is down, as the end of a sentence. Undefined while it is up, or was never asked. */
  trouble(): string | undefined;
  /** Milliseconds until the endpoint can be asked. Infinite while its breaker is open. */
  readyInMs(): number;
  /**
   * The number of failed requests since the last good one. Infinite while the endpoint lags or is distrusted. The endpoint with
   * the lowest number is asked first.
   */
  doubts(): number;
  /** True if the endpoint answered within this time. */
  answeredWithin(ms: number): boolean;
  /** True if the endpoint asked for a pause that is not over. */
  isThrottling(): boolean;
  /**
   * Sends fewer calls from now on. Called when the provider refused calls of another connection pool because of too many
   * requests.
   */
  slowDown(): void;
  /** Records that other endpoints contradicted this endpoint. It is asked last for a while. */
  distrust(): void;
  /** The last reported height, if the report is recent. */
  head(): number | undefined;
  /** Sends a call. Rejects with an `EndpointFailure`, or with a `ContractFaultError`. Calls made at the same moment share a request. */
  ask<T>(call: RpcCall<T>, timeoutMs: number): Promise<T>;
  close(): void;
}

export interface EndpointInput {
  readonly name: string;
  readonly world: World;
  readonly transport: Transport;
  readonly chainId: number;
  /** The hash of block 0, once it is known. Two chains may have the same chain id, but they differ in this hash. */
  readonly genesis?: (() => string | undefined) | undefined;
  readonly callsPerS: number;
  /** The lowest acceptable height, derived from the reports of the other endpoints. */
  readonly minHead: () => number;
  /**
   * True for requests that the public can cause. Their rate falls as soon as the provider refuses any call. A failure opens no
   * breaker: the request may have been too large, and the breaker of all other calls shows whether the endpoint is available.
   */
  readonly isYielding?: boolean | undefined;
  readonly onThrottled?: (() => void) | undefined;
  /** Called with the reason when the breaker opens, and with undefined when it closes. */
  readonly onChange: (trouble: string | undefined) => void;
}

/** The initial limit of calls in a batch. Providers commonly accept a hundred. A lower limit is learned from a refusal. */
const MAX_BATCH_CALLS = 100;
const MAX_BATCH_BYTES = 1_000_000;
const BATCH_LIMIT_HOLDS_MS = 600_000;
const MAX_CONCURRENT_REQUESTS = 8;
/**
 * Timeouts are rounded up to a multiple of this. Calls are queued by their timeout, so the rounding bounds the number of queues.
 */
const LANE_STEP_MS = 100;
/** The number of concurrent single calls to a server that accepts no batches. */
const MAX_CONCURRENT_SINGLES = 16;
/** The time after which the chain id is checked again: a URL can point to another server at any time. */
const PROVEN_FOR_MS = 60_000;
const WRONG_CHAIN_PAUSE_MS = 30_000;
/** A probe without an answer after this time has failed. The next probe follows soon. */
const PROBE_TIMEOUT_MS = 2_000;
const DISTRUSTED_FOR_MS = 600_000;
/** The time after which the last height of a silent endpoint is no longer compared with others. */
const HEAD_HOLDS_MS = 60_000;

const LATE = 'did not answer in time';
const FAR_BEHIND = 'is far behind the others';

type Outcome<T> =
  | { readonly value: T }
  | { readonly failure: EndpointFailure }
  /** The contract is at fault, not the endpoint. */
  | { readonly fault: ContractFaultError };

export function createEndpoint(input: EndpointInput): Endpoint {
  const { world, transport, minHead, isYielding = false } = input;
  let answeredAtMs = Number.NEGATIVE_INFINITY;
  let provenUntilMs = Number.NEGATIVE_INFINITY;
  let maxBatchCalls = MAX_BATCH_CALLS;
  let limitedAtMs = 0;
  let nextId = 1;
  let isDistrusted = false;
  let cancelDistrust = () => {};
  let failed = { times: 0, text: 'is left alone for a while' };
  let head: { readonly number: number; readonly atMs: number } | undefined;

  const budget = createCallBudget(world.clock, input.callsPerS, { isYielding });
  const breaker = createBreaker({
    world,
    probe: async () => {
      const [outcome] = await exchange([probeCall], PROBE_TIMEOUT_MS);
      return outcome !== undefined && 'value' in outcome;
    },
    onChange: (isOpen) => input.onChange(isOpen ? failed.text : undefined),
  });
  const lanes = new Map<number, Batcher<RpcCall<unknown>, Outcome<unknown>>>();

  const chainIdCall: RpcCall<void> = {
    method: 'eth_chainId',
    params: [],
    read: (result) => {
      const found = readNumber(result);
      if (found === input.chainId) return;
      const text = `is on another chain, ${found} and not ${input.chainId}: correct RPC_URLS, or the id in the file of the network`;
      throw new EndpointFailure('down', text, WRONG_CHAIN_PAUSE_MS);
    },
  };
  const genesisCall: RpcCall<void> = {
    method: 'eth_getBlockByNumber',
    params: ['0x0', false],
    read: (result) => {
      // Some nodes have no old blocks. A missing block does not prove another chain.
      const found = result === null ? undefined : readHash(readFields(result).hash);
      const known = input.genesis?.();
      if (found === undefined || known === undefined || found === known) return;
      const text = `is on another chain with the same id: its block 0 is ${found} and not ${known}. Correct RPC_URLS`;
      throw new EndpointFailure('down', text, WRONG_CHAIN_PAUSE_MS);
    },
  };
  const headCall: RpcCall<number> = { method: 'eth_blockNumber', params: [], read: readNumber };
  const probeCall: RpcCall<number> = { ...headCall, toleratesLag: true };
  const isBehind = () => head !== undefined && head.number < minHead();
  const leftAlone = (): Outcome<never> => ({
    failure: new EndpointFailure('down', failed.text),
  });

  /**
   * The queue (lane) of calls with this timeout. Only calls with the same timeout share requests, so that a call with a long
   * timeout never delays a call with a short one.
   */
  function laneOf(wantedMs: number): Batcher<RpcCall<unknown>, Outcome<unknown>> {
    const timeoutMs = Math.ceil(wantedMs / LANE_STEP_MS) * LANE_STEP_MS;
    let lane = lanes.get(timeoutMs);
    if (lane === undefined) {
      lane = createBatcher(world, {
        run: (calls) => inChunks(calls, timeoutMs),
        maxItems: MAX_BATCH_CALLS,
        maxConcurrent: MAX_CONCURRENT_REQUESTS,
        isItemsFault: () => false,
      });
      lanes.set(timeoutMs, lane);
    }
    return lane;
  }

  async function inChunks(calls: readonly RpcCall<unknown>[], timeoutMs: number): Promise<Outcome<unknown>[]> {
    const outcomes: Outcome<unknown>[] = [];
    while (outcomes.length < calls.length) {
      const chunk = nextChunk(calls.slice(outcomes.length));
      outcomes.push(...(breaker.isOpen() ? chunk.map(leftAlone) : await exchange(chunk, timeoutMs)));
    }
    return outcomes;
  }

  /** The calls that fit into one request. */
  function nextChunk(calls: readonly RpcCall<unknown>[]): readonly RpcCall<unknown>[] {
    // The refusal of a large batch may have been temporary, so larger batches are tried again after a while.
    if (world.clock.nowMs() - limitedAtMs > BATCH_LIMIT_HOLDS_MS) maxBatchCalls = MAX_BATCH_CALLS;
    const maxCalls = maxBatchCalls === 1 ? MAX_CONCURRENT_SINGLES : Math.max(1, maxBatchCalls - preamble().length);
    let bytes = 0;
    const size = calls.slice(0, maxCalls).findIndex(({ params }) => {
      bytes += sizeOf(params);
      return bytes > MAX_BATCH_BYTES;
    });
    return calls.slice(0, size < 0 ? maxCalls : Math.max(1, size));
  }

  const isProven = () => world.clock.nowMs() < provenUntilMs;
  /** The first calls of every request: the identity of the chain if its check is due, and the height of the answering node. */
  const preamble = (): readonly RpcCall<unknown>[] => {
    if (isProven()) return [headCall];
    return input.genesis?.() === undefined ? [chainIdCall, headCall] : [chainIdCall, genesisCall, headCall];
  };

  async function exchange(chunk: readonly RpcCall<unknown>[], timeoutMs: number): Promise<Outcome<unknown>[]> {
    const first = preamble();
    const begun = breaker.begin();
    try {
      const answers = await askInOrder(first, chunk, timeoutMs);
      first.forEach((call, index) => {
        const value = call === genesisCall ? readGenesis(answers[index]) : readValue(call, answers[index]);
        if (call === headCall) head = { number: value as number, atMs: world.clock.nowMs() };
      });
      if (first.includes(chainIdCall)) provenUntilMs = world.clock.nowMs() + PROVEN_FOR_MS;
      answeredAtMs = world.clock.nowMs();
      const outcomes = chunk.map((call, index) => outcomeOf(call, answers[first.length + index]));
      note(outcomes, begun);
      return outcomes;
    } catch (error) {
      const failure = error instanceof EndpointFailure ? error : new EndpointFailure('down', 'cannot be reached');
      if (failure.kind === 'batch_refused' && maxBatchCalls > 1) {
        // The retries are bounded: the size of the batch halves every time.
        maxBatchCalls = Math.max(1, Math.floor((first.length + chunk.length) / 2));
        limitedAtMs = world.clock.nowMs();
        return inChunks(chunk, timeoutMs);
      }
      blame(failure, begun);
      return chunk.map(() => ({ failure }));
    }
  }

  /**
   * Checks the answer about block 0. Some nodes answer with an error because they have no old blocks. Only a different block 0 is
   * a reason not to ask an endpoint.
   */
  function readGenesis(answer: Answer | undefined): void {
    try {
      readValue(genesisCall, answer);
    } catch (error) {
      if (!(error instanceof EndpointFailure) || error.kind === 'down' || error.kind === 'throttled') throw error;
    }
  }

  async function askInOrder(
    first: readonly RpcCall<unknown>[],
    chunk: readonly RpcCall<unknown>[],
    timeoutMs: number,
  ): Promise<readonly (Answer | undefined)[]> {
    if (maxBatchCalls > 1) return post([...first, ...chunk], timeoutMs);
    // The height must be older than the answers that rely on it, so it is asked first.
    const alone = async (call: RpcCall<unknown>) => (await post([call], timeoutMs))[0];
    const heads = await Promise.all(first.map(alone));
    return [...heads, ...(await Promise.all(chunk.map(alone)))];
  }

  async function post(calls: readonly RpcCall<unknown>[], timeoutMs: number): Promise<readonly (Answer | undefined)[]> {
    const firstId = nextId;
    nextId += calls.length;
    budget.take(calls.length);
    const abort = new AbortController();
    const cancelTimer = world.timers.after(timeoutMs, () => abort.abort());
    const answer = await transport
      .post(writeRequest(calls, firstId), abort.signal)
      .catch(() => {
        throw new EndpointFailure('down', abort.signal.aborted ? LATE : 'cannot be reached');
      })
      .finally(cancelTimer);
    if (answer.status === 429) {
      throw new EndpointFailure('throttled', 'asks for fewer calls', (answer.retryAfterS ?? 0) * 1000);
    }
    if (calls.length > 1 && (answer.status === 400 || answer.status === 413)) {
      throw new EndpointFailure('batch_refused', 'refuses so many calls at once');
    }
    if (answer.status < 200 || answer.status > 299) {
      throw new EndpointFailure('down', `answered with HTTP status ${answer.status}`);
    }
    return readResponse(answer.text, firstId, calls.length);
  }

  function outcomeOf(call: RpcCall<unknown>, answer: Answer | undefined): Outcome<unknown> {
    try {
      // The node's height is checked even if the call returned an error: a call that reverts here may succeed in a block that
      // this node has not seen.
      const known = head?.number ?? 0;
      if (known < (call.minBlock ?? 0)) throw new EndpointFailure('behind', `has not seen block ${call.minBlock} yet`);
      if (!call.toleratesLag && known < minHead()) {
        throw new EndpointFailure('behind', FAR_BEHIND);
      }
      return { value: readValue(call, answer) };
    } catch (error) {
      if (error instanceof EndpointFailure) return { failure: error };
      if (error instanceof ContractFaultError) return { fault: error };
      throw error;
    }
  }

  /** Reports a request to the breaker, which counts requests, not the calls in them. */
  function note(outcomes: readonly Outcome<unknown>[], begun: number): void {
    const failures = outcomes.flatMap((outcome) => ('failure' in outcome ? [outcome.failure] : []));
    const worst = failures.find(({ kind }) => kind === 'throttled') ?? failures.find(({ kind }) => kind === 'down');
    if (worst !== undefined) blame(worst, begun);
    else {
      failed.times = 0;
      breaker.succeeded();
    }
  }

  function blame(failure: EndpointFailure, begun: number): void {
    failed = { times: failed.times + 1, text: failure.message };
    provenUntilMs = Number.NEGATIVE_INFINITY;
    if (failure.kind === 'throttled') {
      budget.slowDown();
      breaker.throttled(failure.pauseMs);
      input.onThrottled?.();
    } else if (failure.pauseMs > 0) breaker.rejected(failure.pauseMs);
    // Failed calls of public requests do not open the breaker. The next such call asks another endpoint first.
    else if (!isYielding) breaker.failed(begun);
  }

  /**
   * Sends a call in the queue of its timeout. The timeout includes the time in the queue, so that a call behind a silent request
   * does not wait twice as long.
   */
  async function ask(call: RpcCall<unknown>, timeoutMs: number): Promise<Outcome<unknown>> {
    const { promise: late, resolve } = Promise.withResolvers<Outcome<unknown>>();
    const cancelTimer = world.timers.after(timeoutMs + LANE_STEP_MS, () =>
      resolve({ failure: new EndpointFailure('down', LATE) }),
    );
    return Promise.race([laneOf(timeoutMs)(call), late]).finally(cancelTimer);
  }

  return {
    name: input.name,
    isUp: () => answeredAtMs > 0 && !breaker.isOpen() && !isBehind(),
    trouble: () => (breaker.isOpen() ? failed.text : isBehind() ? FAR_BEHIND : undefined),
    readyInMs: () => (breaker.isOpen() ? Number.POSITIVE_INFINITY : budget.waitMs()),
    doubts: () => (isDistrusted || isBehind() ? Number.POSITIVE_INFINITY : failed.times),
    answeredWithin: (ms) => Math.abs(world.clock.nowMs() - answeredAtMs) <= ms,
    isThrottling: () => breaker.isThrottled(),
    slowDown: () => budget.slowDown(),
    distrust: () => {
      isDistrusted = true;
      cancelDistrust();
      cancelDistrust = world.timers.after(DISTRUSTED_FOR_MS, () => {
        isDistrusted = false;
      });
    },
    head: () => (head !== undefined && world.clock.nowMs() - head.atMs < HEAD_HOLDS_MS ? head.number : undefined),
    ask: async <T>(call: RpcCall<T>, timeoutMs: number) => {
      const outcome = await ask(call, timeoutMs);
      if ('failure' in outcome) throw outcome.failure;
      if ('fault' in outcome) throw outcome.fault;
      return outcome.value as T;
    },
    close: () => {
      cancelDistrust();
      breaker.close();
      transport.close();
    },
  };
}

/** The decoded answer. Throws an `EndpointFailure` if there is none. */
function readValue(call: RpcCall<unknown>, answer: Answer | undefined): unknown {
  if (answer === undefined) throw new EndpointFailure('down', `left ${call.method} without an answer`);
  if ('error' in answer) {
    const answered = call.readError?.(answer.error);
    if (answered !== undefined) return answered.value;
    if (isThrottling(answer.error)) throw new EndpointFailure('throttled', 'asks for fewer calls');
    throw new EndpointFailure('unclear', `could not answer ${call.method} (code ${answer.error.code})`);
  }
  try {
    return call.read(answer.result);
  } catch (error) {
    if (error instanceof EndpointFailure || error instanceof ContractFaultError) throw error;
    throw new EndpointFailure('unreadable', `answered ${call.method} with an unreadable value`);
  }
}

/** The approximate length of the parameters as text. Only calldata can be long. */
function sizeOf(params: readonly unknown[]): number {
  const [first] = params;
  if (typeof first === 'string') return first.length;
  const data = (first as { data?: unknown } | undefined)?.data;
  return typeof data === 'string' ? data.length : 0;
}
