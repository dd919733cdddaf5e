import { checksumAddress } from '../../domain/caip.ts';
import type { Chain, ChainEvent } from '../chain.ts';
import { coinOf } from '../coin.ts';
import { COLLECTED_TOPIC, decodeCollectorLog, NATIVE_TOKEN, REFUSED_TOPIC, reasonOf } from './collector.ts';
import type { EvmContext } from './evm-context.ts';
import { createLogReader, readPlace } from './logs.ts';
import type { Rpc } from './rpc.ts';
import { type Hex, readData, readHash } from './rpc-values.ts';

/** Reads one log of the Collector. Throws for any other log. */
export type EventDecoder = (log: Record<string, unknown>) => ChainEvent;

/** More than the number of logs that the watcher reads repeatedly until their blocks are final. */
const MAX_KEPT = 5_000;

/** Reads the Collector's events, from the endpoints behind `call`. */
export function createEventReader(
  { network, collectors }: EvmContext,
  { call, decode }: { readonly call: Rpc['call']; readonly decode: EventDecoder },
): Chain['events'] {
  const filter = {
    address: collectors.map(({ address }) => address.toLowerCase()),
    topics: [[COLLECTED_TOPIC, REFUSED_TOPIC]],
  };
  const readLogs = createLogReader({ call, network }, decode);
  return (fromBlock, toBlock, onUnreadable) => readLogs(filter, fromBlock, toBlock, onUnreadable);
}

/** True if a log has the form of a Collector event. */
export function isCollectorLog({ collectors }: EvmContext, { address: of, topics }: Record<string, unknown>): boolean {
  const isOurs = typeof of === 'string' && collectors.some(({ address }) => address.toLowerCase() === of.toLowerCase());
  return isOurs && Array.isArray(topics) && (topics[0] === COLLECTED_TOPIC || topics[0] === REFUSED_TOPIC);
}

export function createEventDecoder(context: EvmContext): EventDecoder {
  const { network, assets } = context;
  const assetByToken = new Map<string, string>(assets.map(({ token, known }) => [token, known.id]));
  const collectors = new Map(context.collectors.map(({ address }) => [address.toLowerCase(), address]));
  return createMemo(readLog);

  function readLog(log: Record<string, unknown>): ChainEvent {
    const collector = collectors.get(readData(log.address));
    if (collector === undefined) throw new RangeError('a log of another contract');
    if (!Array.isArray(log.topics)) throw new TypeError('a log without topics');
    const decoded = decodeCollectorLog({ topics: log.topics.map(readHash), data: readData(log.data) });
    if (decoded === undefined) throw new RangeError('a log of another kind');
    const place = {
      ...readPlace(log),
      collector,
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
    const lower = token.toLowerCase();
    if (lower === NATIVE_TOKEN) return coinOf(network.chainId);
    return assetByToken.get(lower) ?? `${network.chainId}/erc20:${checksumAddress(lower)}`;
  }
}

/**
 * A cache. The last blocks are read several times, in case a node was incomplete, and decoding a log is a large part of
 * the cost of a payment. An identical log is decoded once.
 */
function createMemo<T>(read: (log: Record<string, unknown>) => T): (log: Record<string, unknown>) => T {
  const kept = new Map<string, T>();
  return (log) => {
    const text = JSON.stringify(log);
    const known = kept.get(text);
    if (known !== undefined) return known;
    const fresh = read(log);
    if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value ?? '');
    kept.set(text, fresh);
    return fresh;
  };
}
