import { checksumAddress } from '../../domain/addresses/eip155.ts';
import { isSameAddress } from '../../domain/addresses/families.ts';
import type { ChainEvent, ChainReader } from '../chain-reader.ts';
import {
  COLLECTOR_TOPICS,
  decodeCollectorLog,
  NATIVE_TOKEN,
  NONCE_SPACES,
  type NonceSpace,
  reasonOf,
} from './collector.ts';
import { DEPOSIT_TOPICS, decodeSweptLog } from './deposits.ts';
import type { EvmContext } from './evm-context.ts';
import { methodIn } from './item-terms.ts';
import { createLogReader, readPlace } from './logs.ts';
import type { Rpc } from './rpc.ts';
import { type Hex, readData, readHash } from './rpc-values.ts';

/** Reads one log of our contracts. Throws for any other log. */
export type EventDecoder = (log: Record<string, unknown>) => ChainEvent;

/** The maximum number of cached logs. It is more than the watcher reads repeatedly until their blocks are final. */
const MAX_CACHED = 5_000;

/** Reads the events of our contracts, from the endpoints behind `call`. */
export function createEventReader(
  { world, network, collectors, depositContracts }: EvmContext,
  { call, decode }: { readonly call: Rpc['call']; readonly decode: EventDecoder },
): ChainReader['events'] {
  const filter = {
    address: [...collectors, ...depositContracts].map(({ address }) => address.toLowerCase()),
    topics: [[...COLLECTOR_TOPICS, ...DEPOSIT_TOPICS]],
  };
  const readLogs = createLogReader({ call, network, world }, decode);
  return (fromBlock, toBlock, onUnreadable) => readLogs(filter, fromBlock, toBlock, onUnreadable);
}

/** True if a log has the address and topic of an event of our contracts. */
export function isOurLog(
  { network, collectors, depositContracts }: EvmContext,
  { address: of, topics }: Record<string, unknown>,
): boolean {
  const [topic] = Array.isArray(topics) ? topics : [];
  const isBy = (releases: EvmContext['collectors']) =>
    typeof of === 'string' && releases.some(({ address }) => isSameAddress(network.chainId, address, of));
  return DEPOSIT_TOPICS.includes(topic) ? isBy(depositContracts) : COLLECTOR_TOPICS.includes(topic) && isBy(collectors);
}

export function createEventDecoder(context: EvmContext): EventDecoder {
  const { network, assets } = context;
  const assetByToken = new Map<string, string>(assets.map(({ token, known }) => [token, known.id]));
  const byAddress = (releases: EvmContext['collectors']) =>
    new Map(releases.map(({ address }) => [address.toLowerCase(), address]));
  const [collectors, depositContracts] = [byAddress(context.collectors), byAddress(context.depositContracts)];
  return createMemo(readLog);

  function readLog(log: Record<string, unknown>): ChainEvent {
    const by = readData(log.address);
    if (!Array.isArray(log.topics)) throw new TypeError('a log without topics');
    const content = { topics: log.topics.map(readHash), data: readData(log.data) };
    const depositContract = depositContracts.get(by);
    if (depositContract !== undefined) return readSwept(log, depositContract, content);
    const collector = collectors.get(by);
    if (collector === undefined) throw new RangeError('a log of another contract');
    const decoded = decodeCollectorLog(content);
    if (decoded === undefined) throw new RangeError('a log of another kind');
    const place = {
      ...readPlace(log),
      collector,
      commitment: decoded.commitment,
    };
    if (decoded.type === 'refused') return { ...place, type: 'refused', reason: reasonOf(decoded.reason) };
    const { subject, payer, token, amount, fee, recipient, terms } = decoded;
    const asset = assetOf(token);
    const paid = { ...place, type: 'paid', subject: subject.slice(2), payer, asset, amount, fee, recipient } as const;
    if (terms === undefined) return paid;
    const { nonceSpace, feeAccount, deadline } = terms;
    return {
      ...paid,
      terms: { method: methodIn(spaceOf(nonceSpace), network.assets.get(asset)?.pay), feeAccount, deadline },
    };
  }

  function readSwept(
    log: Record<string, unknown>,
    collector: string,
    content: { topics: Hex[]; data: Hex },
  ): ChainEvent {
    const decoded = decodeSweptLog(content);
    if (decoded === undefined) throw new RangeError('a log of another kind');
    const { commitment, subject, token, amount, fee, recipient, terms } = decoded;
    const place = { ...readPlace(log), collector, commitment };
    const swept = { ...place, type: 'swept', subject: subject.slice(2), asset: assetOf(token), amount, fee } as const;
    if (terms === undefined) return { ...swept, recipient };
    const { askedToken, ...asked } = terms;
    return { ...swept, recipient, terms: { ...asked, askedAsset: assetOf(askedToken) } };
  }

  function assetOf(token: Hex): string {
    const lower = token.toLowerCase();
    if (lower === NATIVE_TOKEN) return network.coin.id;
    return assetByToken.get(lower) ?? `${network.chainId}/erc20:${checksumAddress(lower)}`;
  }
}

/** The nonce space with this number. Throws for a number that no release uses, because then the Collector did not emit the log. */
function spaceOf(value: bigint): NonceSpace {
  const found = Object.entries(NONCE_SPACES).find(([, number]) => BigInt(number) === value);
  if (found === undefined) throw new RangeError('a nonce space that no release has');
  return found[0] as NonceSpace;
}

/**
 * Caches decoded logs. The newest blocks are read several times, in case a node's answer was incomplete, and decoding logs is a
 * large part of the cost of a payment.
 */
function createMemo<T>(read: (log: Record<string, unknown>) => T): (log: Record<string, unknown>) => T {
  const kept = new Map<string, T>();
  return (log) => {
    const text = JSON.stringify(log);
    const known = kept.get(text);
    if (known !== undefined) return known;
    const fresh = read(log);
    if (kept.size >= MAX_CACHED) kept.delete(kept.keys().next().value ?? '');
    kept.set(text, fresh);
    return fresh;
  };
}
