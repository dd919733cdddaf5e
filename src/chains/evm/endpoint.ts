import { type Batcher, createBatcher } from '../../runtime/batcher.ts';
import type { World } from '../../runtime/world.ts';
import { ContractFaultError } from '../chain.ts';
import { createBreaker } from './breaker.ts';
import { createCallBudget } from './call-budget.ts';
import { type Answer, EndpointFailure, isThrottling, type RpcCall, readResponse, writeRequest } from './json-rpc.ts';
import { readNumber } from './rpc-values.ts';
import type { Transport } from './transport.ts';

/** One RPC endpoint. It is believed only as long as it says that it is on the right chain and keeps up with the others. */
export interface Endpoint {
  /** What it is called in logs and errors: its place in the configuration, never its address. */
  readonly name: string;
  /** Whether the last thing known of it is good. */
  isUp(): boolean;
  /** Why it is not up, in words that complete a sentence about it; undefined while it is, or was never asked. */
  trouble(): string | undefined;
  /** Milliseconds until it can be asked; infinite while it is left alone. */
  readyInMs(): number;
  /** How many of its requests failed since the last good one; infinite while it lags behind. The least is asked first. */
  doubts(): number;
  /** Whether it has answered in the last so many milliseconds. */
  answeredWithin(ms: number): boolean;
  /** Whether it asked for a pause that is not over. */
  isThrottling(): boolean;
  /** Others have contradicted it: for a while it is asked last. */
  distrust(): void;
  /** The height it last told of, if that was not long ago. */
  head(): number | undefined;
  /** Rejects with an `EndpointFailure`, or with a `ContractFaultError`. Calls of the same moment share a request. */
  ask<T>(call: RpcCall<T>, timeoutMs: number): Promise<T>;
  close(): void;
}

export interface EndpointInput {
  readonly name: string;
  readonly world: World;
  readonly transport: Transport;
  readonly chainId: number;
  readonly callsPerS: number;
  /** The least height to believe, judged by what the others have told. */
  readonly minHead: () => number;
  /** Called when it is left alone, with why, and when it is asked again. */
  readonly onChange: (trouble: string | undefined) => void;
}

/** Providers commonly take a hundred; one that takes fewer is found out and remembered. */
const MAX_BATCH_CALLS = 100;
const MAX_BATCH_BYTES = 1_000_000;
const BATCH_LIMIT_HOLDS_MS = 600_000;
const MAX_CONCURRENT_REQUESTS = 8;
/** Timeouts are rounded up to this, so that there are never many lanes. */
const LANE_STEP_MS = 100;
/** How many single calls are under way at once with a server that knows no batches. */
const MAX_CONCURRENT_SINGLES = 16;
/** An address can be pointed at another server at any time. */
const PROVEN_FOR_MS = 60_000;
const WRONG_CHAIN_PAUSE_MS = 30_000;
/** A probe that is not answered by then has failed; the next one follows soon. */
const PROBE_TIMEOUT_MS = 2_000;
const DISTRUSTED_FOR_MS = 600_000;
/** Nobody is held against what an endpoint said that has been silent since. */
const HEAD_HOLDS_MS = 60_000;

const LATE = 'did not answer in time';
const FAR_BEHIND = 'is far behind the others';

type Outcome<T> =
  | { readonly value: T }
  | { readonly failure: EndpointFailure }
  /** The endpoint did its part: this is nothing to blame it for. */
  | { readonly fault: ContractFaultError };

export function createEndpoint(input: EndpointInput): Endpoint {
  const { world, transport, minHead } = input;
  let answeredAtMs = Number.NEGATIVE_INFINITY;
  let provenUntilMs = Number.NEGATIVE_INFINITY;
  let maxBatchCalls = MAX_BATCH_CALLS;
  let limitedAtMs = 0;
  let nextId = 1;
  let isDistrusted = false;
  let cancelDistrust = () => {};
  let failed = { times: 0, text: 'is left alone for a while' };
  let head: { readonly number: number; readonly atMs: number } | undefined;

  const budget = createCallBudget(world.clock, input.callsPerS);
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
      if (readNumber(result) === input.chainId) return;
      throw new EndpointFailure('down', 'is on another chain', WRONG_CHAIN_PAUSE_MS);
    },
  };
  const headCall: RpcCall<number> = { method: 'eth_blockNumber', params: [], read: readNumber };
  const probeCall: RpcCall<number> = { ...headCall, toleratesLag: true };
  const isBehind = () => head !== undefined && head.number < minHead();
  const leftAlone = (): Outcome<never> => ({
    failure: new EndpointFailure('down', failed.text),
  });

  /** Calls that may take equally long share requests, so that a patient one never makes a hasty one wait. */
  function laneOf(wantedMs: number): Batcher<RpcCall<unknown>, Outcome<unknown>> {
    const timeoutMs = Math.ceil(wantedMs / LANE_STEP_MS) * LANE_STEP_MS;
    let lane = lanes.get(timeoutMs);
    if (lane === undefined) {
      lane = createBatcher(world.timers, {
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

  /** As many calls as fit into one request. */
  function nextChunk(calls: readonly RpcCall<unknown>[]): readonly RpcCall<unknown>[] {
    // It may have been a bad moment, and not a limit.
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
  /** What every request asks first: which chain, when that is due, and how far the answering node has come. */
  const preamble = (): readonly RpcCall<unknown>[] => (isProven() ? [headCall] : [chainIdCall, headCall]);

  async function exchange(chunk: readonly RpcCall<unknown>[], timeoutMs: number): Promise<Outcome<unknown>[]> {
    const first = preamble();
    const begun = breaker.begin();
    try {
      const answers = await askInOrder(first, chunk, timeoutMs);
      first.forEach((call, index) => {
        const value = readValue(call, answers[index]);
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
        // What is tried again is bounded: the size halves every time.
        maxBatchCalls = Math.max(1, Math.floor((first.length + chunk.length) / 2));
        limitedAtMs = world.clock.nowMs();
        return inChunks(chunk, timeoutMs);
      }
      blame(failure, begun);
      return chunk.map(() => ({ failure }));
    }
  }

  async function askInOrder(
    first: readonly RpcCall<unknown>[],
    chunk: readonly RpcCall<unknown>[],
    timeoutMs: number,
  ): Promise<readonly (Answer | undefined)[]> {
    if (maxBatchCalls > 1) return post([...first, ...chunk], timeoutMs);
    // The height must be older than what it vouches for, so it is asked before.
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
      // Errors are checked too: a revert may be a revert no more in the block that this node has not seen.
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

  /** One verdict for a request, whatever number of calls it had. */
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
    } else if (failure.pauseMs > 0) breaker.rejected(failure.pauseMs);
    else breaker.failed(begun);
  }

  /** The time a call waits for its turn counts too: behind a silent request it must not wait for as long again. */
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

/** What the answer says, or an `EndpointFailure`. */
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
    throw new EndpointFailure('unreadable', `answered ${call.method} with something that cannot be`);
  }
}

/** About how long the parameters are as text; only calldata is ever long. */
function sizeOf(params: readonly unknown[]): number {
  const [first] = params;
  if (typeof first === 'string') return first.length;
  const data = (first as { data?: unknown } | undefined)?.data;
  return typeof data === 'string' ? data.length : 0;
}
