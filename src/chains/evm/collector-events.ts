import { checksumAddress } from '../../domain/caip.ts';
import type { ChainEvent } from '../chain.ts';
import { coinOf } from '../coin.ts';
import { COLLECTED_TOPIC, decodeCollectorLog, NATIVE_TOKEN, REFUSED_TOPIC, reasonOf } from './collector.ts';
import type { EvmContext } from './evm-context.ts';
import { createLogReader, readPlace } from './logs.ts';
import { type Hex, readData, readHash } from './rpc-values.ts';

export type EventReader = (fromBlock: number, toBlock: number) => Promise<readonly ChainEvent[]>;

/** More than the watcher reads again and again until their blocks are final. */
const MAX_KEPT = 5_000;

export function createEventReader(context: EvmContext): EventReader {
  const { network, assets } = context;
  const assetByToken = new Map<string, string>(assets.map(({ token, known }) => [token, known.id]));
  const collectors = new Map(context.collectors.map(({ address }) => [address.toLowerCase(), address]));
  const filter = { address: [...collectors.keys()], topics: [[COLLECTED_TOPIC, REFUSED_TOPIC]] };
  const readLogs = createLogReader(context, createMemo(readLog));
  return (fromBlock, toBlock) => readLogs(filter, fromBlock, toBlock);

  function readLog(log: Record<string, unknown>): ChainEvent {
    const collector = collectors.get(readData(log.address));
    if (collector === undefined) throw new RangeError('a log of somebody else');
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
 * The last blocks are read several times each, in case a node had not had all of them, and reading a log takes a good part
 * of what a payment costs: what is told again word for word is not read again.
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
