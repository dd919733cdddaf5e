import { type BlockId, ChainUnavailableError } from '../chain.ts';
import type { EvmContext } from './evm-context.ts';
import { isThrottling, type RpcCall } from './json-rpc.ts';
import { readBlockId, readFields, readHash, readNumber, toQuantity } from './rpc-values.ts';

/** Providers take between ten and fifty thousand blocks at once; what one refuses is asked in halves from then on. */
const FIRST_SPAN = 5_000;
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

/** Reads logs of a range of blocks, in order, in as many pieces as the providers want. */
export function createLogReader<T extends Placed>(
  { rpc, network }: Pick<EvmContext, 'rpc' | 'network'>,
  readLog: (log: Record<string, unknown>) => T,
): (filter: LogFilter, fromBlock: number, toBlock: number) => Promise<readonly T[]> {
  let maxSpan = FIRST_SPAN;

  return async (filter, fromBlock, toBlock) => {
    const logs: T[] = [];
    for (let from = fromBlock; from <= toBlock; ) {
      const to = Math.min(toBlock, from + maxSpan - 1);
      const read = await rpc.call(logsCall(filter, from, to));
      if (read !== TOO_MUCH) {
        logs.push(...read);
        from = to + 1;
      } else if (to === from) {
        throw new ChainUnavailableError(network.chainId, `no endpoint gives out the events of block ${from}`);
      } else {
        maxSpan = Math.ceil((to - from + 1) / 2);
      }
    }
    return logs;
  };

  function logsCall(filter: LogFilter, from: number, to: number): RpcCall<readonly T[] | typeof TOO_MUCH> {
    return {
      method: 'eth_getLogs',
      params: [{ fromBlock: toQuantity(from), toBlock: toQuantity(to), ...filter }],
      // A node that has not come that far would answer with what it has, and the rest would never be seen.
      minBlock: to,
      read: (result) => {
        if (!Array.isArray(result)) throw new TypeError('not a list of logs');
        return result.map((log) => readOne(readFields(log), from, to)).sort(byPlace);
      },
      readError: (error) => (isRangeRefusal(error.message) && !isThrottling(error) ? { value: TOO_MUCH } : undefined),
    };
  }

  function readOne(log: Record<string, unknown>, from: number, to: number): T {
    const read = readLog(log);
    const { number } = read.block;
    if (number < from || number > to || log.removed === true) throw new RangeError('a log of another block');
    return read;
  }
}

/** Where a log stands. */
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

/** Every provider has words of its own for it, and codes that mean other things elsewhere. */
function isRangeRefusal(message: string): boolean {
  return /range|too many (results|logs|blocks)|more than \d+|response size|result set|too large|limited to|max(imum)? .*blocks/.test(
    message,
  );
}
