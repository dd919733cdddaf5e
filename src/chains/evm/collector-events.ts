import { checksumAddress } from '../../domain/caip.ts';
import { type ChainEvent, ChainUnavailableError } from '../chain.ts';
import {
  COLLECTED_TOPIC,
  COLLECTOR_ADDRESS,
  decodeCollectorLog,
  NATIVE_TOKEN,
  REFUSED_TOPIC,
  reasonOf,
} from './collector.ts';
import type { EvmContext } from './evm-context.ts';
import { isThrottling, type RpcCall } from './json-rpc.ts';
import { type Hex, readBlockId, readData, readFields, readHash, readNumber, toQuantity } from './rpc-values.ts';

/** Providers take between ten and fifty thousand blocks at once; what one refuses is asked in halves from then on. */
const FIRST_SPAN = 5_000;
const TOO_MUCH = 'too much';

export type EventReader = (fromBlock: number, toBlock: number) => Promise<readonly ChainEvent[]>;

export function createEventReader({ rpc, network, assets }: EvmContext): EventReader {
  let maxSpan = FIRST_SPAN;
  const nativeAsset = assets.find(({ token }) => token === NATIVE_TOKEN)?.known.id;

  return async (fromBlock, toBlock) => {
    const events: ChainEvent[] = [];
    for (let from = fromBlock; from <= toBlock; ) {
      const to = Math.min(toBlock, from + maxSpan - 1);
      const read = await rpc.call(logsCall(from, to));
      if (read !== TOO_MUCH) {
        events.push(...read);
        from = to + 1;
      } else if (to === from) {
        throw new ChainUnavailableError(network.chainId, `no endpoint gives out the events of block ${from}`);
      } else {
        maxSpan = Math.ceil((to - from + 1) / 2);
      }
    }
    return events;
  };

  function logsCall(from: number, to: number): RpcCall<readonly ChainEvent[] | typeof TOO_MUCH> {
    const topics = [[COLLECTED_TOPIC, REFUSED_TOPIC]];
    return {
      method: 'eth_getLogs',
      params: [
        { fromBlock: toQuantity(from), toBlock: toQuantity(to), address: COLLECTOR_ADDRESS.toLowerCase(), topics },
      ],
      // A node that has not come that far would answer with what it has, and the rest would never be seen.
      minBlock: to,
      read: (result) => {
        if (!Array.isArray(result)) throw new TypeError('not a list of logs');
        return result.map((log) => readLog(readFields(log), from, to)).sort(byPlace);
      },
      readError: (error) => (isRangeRefusal(error.message) && !isThrottling(error) ? TOO_MUCH : undefined),
    };
  }

  function readLog(log: Record<string, unknown>, from: number, to: number): ChainEvent {
    const block = readBlockId(log);
    if (readData(log.address) !== COLLECTOR_ADDRESS.toLowerCase()) throw new RangeError('a log of somebody else');
    if (block.number < from || block.number > to || log.removed === true)
      throw new RangeError('a log of another block');
    if (!Array.isArray(log.topics)) throw new TypeError('a log without topics');
    const decoded = decodeCollectorLog({ topics: log.topics.map(readHash), data: readData(log.data) });
    if (decoded === undefined) throw new RangeError('a log of another kind');
    const place = {
      block,
      transactionHash: readHash(log.transactionHash),
      logIndex: readNumber(log.logIndex),
      commitment: decoded.commitment,
    };
    if (decoded.type === 'refused') return { ...place, type: 'refused', reason: reasonOf(decoded.reason) };
    const { paymentId, payer, token, amount, fee, recipient } = decoded;
    return {
      ...place,
      type: 'paid',
      subject: paymentId.slice(2),
      payer,
      asset: assetOf(token),
      amount,
      fee,
      recipient,
    };
  }

  function assetOf(token: Hex): string {
    if (token === NATIVE_TOKEN && nativeAsset !== undefined) return nativeAsset;
    return `${network.chainId}/erc20:${checksumAddress(token.toLowerCase())}`;
  }
}

function byPlace(left: ChainEvent, right: ChainEvent): number {
  return left.block.number - right.block.number || left.logIndex - right.logIndex;
}

/** Every provider has words of its own for it, and codes that mean other things elsewhere. */
function isRangeRefusal(message: string): boolean {
  return /range|too many (results|logs|blocks)|more than \d+|response size|result set|too large|limited to|max(imum)? .*blocks/.test(
    message,
  );
}
