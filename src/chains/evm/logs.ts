import type { World } from '../../runtime/world.ts';
import { ChainUnavailableError } from '../chain-errors.ts';
import type { BlockId, OnUnreadable, UnreadableLog } from '../chain-reader.ts';
import type { Network } from '../network.ts';
import { EndpointFailure, isThrottling, type RpcCall, type RpcError } from './json-rpc.ts';
import type { Rpc } from './rpc.ts';
import { readBlockId, readFields, readHash, readNumber, toQuantity } from './rpc-values.ts';

/**
 * The first number of blocks in a request for logs. Depending on the provider, the longest accepted range is 10 to 50,000 blocks.
 * A refused range is halved.
 */
const FIRST_SPAN = 5_000;
/**
 * The time for which a smaller range is used after a refusal. After that the larger range is tried again: the provider may have
 * changed its limit, another endpoint may answer, or an unknown error text was mistaken for a limit.
 */
const REFUSAL_HOLDS_MS = 600_000;
const TOO_MUCH = 'too much';

export interface LogFilter {
  readonly address: string | readonly string[];
  readonly topics: readonly (string | null | readonly string[])[];
}

interface Placed {
  readonly block: BlockId;
  readonly transactionHash: string;
  readonly logIndex: number;
}

export type LogReader<T> = (
  filter: LogFilter,
  fromBlock: number,
  toBlock: number,
  onUnreadable?: OnUnreadable,
) => Promise<readonly T[]>;

interface LogsRead<T> {
  readonly logs: readonly T[];
  readonly unreadable: readonly UnreadableLog[];
}

/**
 * Reads the logs of a range of blocks, in order, split according to the limits of the providers. An unreadable log is reported and
 * left out, unless another endpoint has a fully readable answer.
 */
export function createLogReader<T extends Placed>(
  { call, network, world }: { readonly call: Rpc['call']; readonly network: Network; readonly world: World },
  readLog: (log: Record<string, unknown>) => T,
): LogReader<T> {
  let maxSpan = FIRST_SPAN;
  let refusedAtMs = 0;

  return async (filter, fromBlock, toBlock, onUnreadable) => {
    const logs: T[] = [];
    if (world.clock.nowMs() - refusedAtMs > REFUSAL_HOLDS_MS) maxSpan = FIRST_SPAN;
    for (let from = fromBlock; from <= toBlock; ) {
      const to = Math.min(toBlock, from + maxSpan - 1);
      const read = await call(logsCall(filter, from, to));
      if (read !== TOO_MUCH) {
        logs.push(...read.logs);
        for (const log of read.unreadable) onUnreadable?.(log);
        from = to + 1;
      } else if (to === from) {
        throw new ChainUnavailableError(network.chainId, `no endpoint gives out the events of block ${from}`);
      } else {
        maxSpan = Math.ceil((to - from + 1) / 2);
        refusedAtMs = world.clock.nowMs();
      }
    }
    return logs;
  };

  function logsCall(filter: LogFilter, from: number, to: number): RpcCall<LogsRead<T> | typeof TOO_MUCH> {
    return {
      method: 'eth_getLogs',
      params: [{ fromBlock: toQuantity(from), toBlock: toQuantity(to), ...filter }],
      // A lagging node would answer with the logs that it has, and the missing logs would be lost.
      minBlock: to,
      read: (result) => {
        if (!Array.isArray(result)) throw new TypeError('not a list of logs');
        return readAll(result, (log) => readOne(log, from, to));
      },
      isFlawed: (read) => read !== TOO_MUCH && read.unreadable.length > 0,
      readError: (error) => readRefusal(error, to),
    };
  }

  function readOne(log: Record<string, unknown>, from: number, to: number): T {
    const read = readLog(log);
    const { number } = read.block;
    if (number < from || number > to || log.removed === true) throw new RangeError('a log of another block');
    return read;
  }
}

/** The logs in order, each once. Some endpoints repeat logs, and any endpoint may send invalid logs. */
export function readAll<T extends Placed>(
  entries: readonly unknown[],
  readOne: (log: Record<string, unknown>) => T,
): LogsRead<T> {
  const logs = new Map<string, T>();
  const unreadable: UnreadableLog[] = [];
  for (const entry of entries) {
    try {
      const log = readOne(readFields(entry));
      const key = `${log.transactionHash} ${log.logIndex}`;
      if (!logs.has(key)) logs.set(key, log);
    } catch (error) {
      unreadable.push({ place: placeOf(entry), reason: error instanceof Error ? firstLine(error) : 'not a log' });
    }
  }
  return { logs: [...logs.values()].sort(byPlace), unreadable };
}

function placeOf(entry: unknown): UnreadableLog['place'] {
  try {
    const { block, transactionHash, logIndex } = readPlace(readFields(entry));
    return { block: block.number, transactionHash, logIndex };
  } catch {
    return undefined;
  }
}

/** The start of an error message, because messages of libraries can be long. */
function firstLine({ message }: Error): string {
  return message.split('\n')[0]?.slice(0, MAX_REASON) ?? '';
}

const MAX_REASON = 200;

export function readPlace(log: Record<string, unknown>): Placed {
  return {
    block: readBlockId(log),
    transactionHash: readHash(log.transactionHash),
    logIndex: readNumber(log.logIndex),
  };
}

function byPlace(left: Placed, right: Placed): number {
  return left.block.number - right.block.number || left.logIndex - right.logIndex;
}

/**
 * The meaning of a refused request for logs. An endpoint can be several nodes behind one URL, so the node that refuses may not
 * have the block `to` yet, although another node reported it.
 */
function readRefusal(error: RpcError, to: number): { readonly value: typeof TOO_MUCH } | undefined {
  if (isThrottling(error)) return undefined;
  if (isBeyondHead(error.message)) throw new EndpointFailure('behind', `has not seen block ${to} yet`);
  return isRangeRefusal(error.message) ? { value: TOO_MUCH } : undefined;
}

/** Texts of clients for a range that ends after their last block. Some texts also contain "range", so this check comes first. */
function isBeyondHead(message: string): boolean {
  return /beyond .*(head|latest)|^invalid block range( params)?$|block ?out ?of ?range/.test(message);
}

/** True for the error of a range that is too long. Providers use different texts and error codes for this limit. */
function isRangeRefusal(message: string): boolean {
  return /range|too many (results|logs|blocks)|more than \d+|response size|result set|too large|limited to|max(imum)? .*blocks/.test(
    message,
  );
}
