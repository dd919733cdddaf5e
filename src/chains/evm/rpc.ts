import { withJitter } from '../../runtime/backoff.ts';
import type { Log, World } from '../../runtime/world.ts';
import { ChainUnavailableError, ContractFaultError } from '../chain.ts';
import { createEndpoint, type Endpoint } from './endpoint.ts';
import { EndpointFailure, type RpcCall } from './json-rpc.ts';
import { readNumber } from './rpc-values.ts';
import { httpTransport, type Transport } from './transport.ts';

/**
 * The endpoints of one network as one. A call goes to the first that can be asked, then to the next, until one gives an
 * answer that can be believed. When none does, it rejects with `ChainUnavailableError`; when all that they say is that a
 * contract did not do its part, with `ContractFaultError`.
 */
export interface Rpc {
  readonly endpoints: number;
  call<T>(call: RpcCall<T>, timeoutMs?: number): Promise<T>;
  /** Asks every endpoint; undefined stands for one that could not answer. */
  callEach<T>(call: RpcCall<T>): Promise<readonly (T | undefined)[]>;
  endpointsUp(): number;
  /** The highest block any endpoint has told of. */
  head(): number | undefined;
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
/** Above what any provider allows; a lower limit is learned from its refusals. */
const DEFAULT_CALLS_PER_S = 20_000;
/** A replica lags or a connection breaks for a moment: that often all endpoints are gone through before it counts. */
const MAX_ROUNDS = 3;
const ROUND_PAUSE_MS = 150;
/** An endpoint this far behind another one does not follow the chain any more. */
const MAX_LAG_MS = 15_000;
const MAX_LAG_MIN_BLOCKS = 3;
/** While the first endpoint answers, the others are not needed; but only they can tell that it has stopped following. */
const GLANCE_EVERY_MS = 5_000;

const HEAD_CALL: RpcCall<number> = { method: 'eth_blockNumber', params: [], read: readNumber };

export function createRpc(input: RpcInput): Rpc {
  const { world, network, log } = input;
  const maxLag = Math.max(MAX_LAG_MIN_BLOCKS, Math.ceil(MAX_LAG_MS / input.blockTimeMs));
  const endpoints: readonly Endpoint[] = input.endpoints.map((endpoint, index) => {
    const name = `endpoint ${index + 1}`;
    return createEndpoint({
      name,
      world,
      transport: typeof endpoint === 'string' ? httpTransport(endpoint) : endpoint,
      chainId: input.chainId,
      callsPerS: input.callsPerS ?? DEFAULT_CALLS_PER_S,
      minHead: () => highest(endpoints.filter((_, other) => other !== index)) - maxLag,
      onChange: (isUp) => {
        if (isUp) log?.info({ network, endpoint: name }, 'RPC endpoint is answering again');
        else log?.warn({ network, endpoint: name }, 'RPC endpoint is left alone for a while');
      },
    });
  });
  let isClosed = false;
  let glancedMs = world.clock.nowMs();

  async function call<T>(asked: RpcCall<T>, timeoutMs = DEFAULT_TIMEOUT_MS): Promise<T> {
    const startedMs = world.clock.nowMs();
    glanceAtAll(startedMs);
    // With somebody else to ask, half the time must be left for that.
    const attemptMs = endpoints.length > 1 ? Math.ceil(timeoutMs / 2) : timeoutMs;
    const failures = new Map<string, string>();
    let fault: ContractFaultError | undefined;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      if (round > 0) await world.timers.sleep(withJitter(world, ROUND_PAUSE_MS * round));
      for (const endpoint of await askable(timeoutMs)) {
        if (isClosed || world.clock.nowMs() - startedMs >= timeoutMs) break;
        try {
          return await endpoint.ask(asked, attemptMs);
        } catch (error) {
          // An endpoint may be wrong about a contract: it counts as faulty when no other one has a better answer.
          if (error instanceof ContractFaultError) fault ??= error;
          else if (error instanceof EndpointFailure) failures.set(endpoint.name, error.message);
          else throw error;
        }
      }
      if (fault !== undefined) throw fault;
      if (isClosed || failures.size === 0 || world.clock.nowMs() - startedMs >= timeoutMs) break;
    }
    throw new ChainUnavailableError(network, explain(asked.method, failures));
  }

  /** Asks every endpoint how far it has come, now and then. Nobody waits for it. */
  function glanceAtAll(nowMs: number): void {
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

  /** Those that can be asked now, in the order of preference. When all that is missing is allowance, it waits for some. */
  async function askable(timeoutMs: number): Promise<readonly Endpoint[]> {
    const ready = endpoints.filter((endpoint) => endpoint.readyInMs() === 0);
    if (ready.length > 0) return ready;
    const soonestMs = Math.min(...endpoints.map((endpoint) => endpoint.readyInMs()));
    if (soonestMs > timeoutMs) return [];
    await world.timers.sleep(soonestMs);
    return endpoints.filter((endpoint) => endpoint.readyInMs() === 0);
  }

  function explain(method: string, failures: ReadonlyMap<string, string>): string {
    if (isClosed) return 'the connection was closed';
    if (failures.size === 0) return 'no endpoint can be asked now';
    const reasons = [...failures].map(([name, reason]) => `${name} ${reason}`);
    return `no endpoint answered ${method}: ${reasons.join(', ')}`;
  }

  return {
    endpoints: endpoints.length,
    call,
    callEach,
    endpointsUp: () => endpoints.filter((endpoint) => endpoint.isUp()).length,
    head: () => {
      const head = highest(endpoints);
      return Number.isFinite(head) ? head : undefined;
    },
    close: () => {
      isClosed = true;
      for (const endpoint of endpoints) endpoint.close();
    },
  };
}

function highest(endpoints: readonly Endpoint[]): number {
  return Math.max(...endpoints.map((endpoint) => endpoint.head() ?? Number.NEGATIVE_INFINITY));
}
