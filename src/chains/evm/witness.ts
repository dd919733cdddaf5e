import type { Block, Incoming, Receipt, Witness } from '../chain-reader.ts';
import { blockCall, headCall, readReceipt } from './blocks.ts';
import { NATIVE_TOKEN } from './collector.ts';
import { createEventReader, type EventDecoder, isOurLog } from './collector-events.ts';
import type { Endpoint } from './endpoint.ts';
import type { EvmContext } from './evm-context.ts';
import { coinCall, createTransferReader, createTransferReaders } from './incoming.ts';
import type { RpcCall } from './json-rpc.ts';
import { readAll } from './logs.ts';
import { isObject, readData, readFields, readHash } from './rpc-values.ts';
import { balanceCall, nonceCall, usedCall } from './token-calls.ts';

/**
 * An endpoint whose newest block is older than this counts as lagging. On slow chains the limit is the time of
 * `MAX_HEAD_AGE_BLOCKS`.
 */
const MAX_HEAD_AGE_MS = 60_000;
const MAX_HEAD_AGE_BLOCKS = 20;

export function createWitness(context: EvmContext, endpoint: Endpoint, decode: EventDecoder): Witness {
  const { world, network, rpc } = context;
  const maxAgeMs = Math.max(MAX_HEAD_AGE_MS, MAX_HEAD_AGE_BLOCKS * (network.finality?.blockTimeMs ?? 0));
  const readTransfers = createTransferReader(context);
  let failingSinceMs: number | undefined;
  let laggingSinceMs: number | undefined;

  /** Sends a call to this endpoint alone. A lagging endpoint is asked, too, because its height is part of what it reports. */
  async function call<T>(asked: RpcCall<T>): Promise<T> {
    try {
      const answer = await rpc.callOne(endpoint, { ...asked, toleratesLag: true });
      failingSinceMs = undefined;
      return answer;
    } catch (error) {
      failingSinceMs ??= world.clock.nowMs();
      throw error;
    }
  }
  const readEvents = createEventReader(context, { call, decode });
  const { incoming, touching } = createTransferReaders(context, call);

  async function head(): Promise<Block> {
    const block = await call(headCall());
    const nowMs = world.clock.nowMs();
    laggingSinceMs = nowMs - block.timestampS * 1000 <= maxAgeMs ? undefined : (laggingSinceMs ?? nowMs);
    return block;
  }

  async function transfers(hash: string): Promise<readonly Incoming[]> {
    const [mined, coin] = await Promise.all([call(receiptCall(hash)), call(coinCall(hash))]);
    if (mined === null || mined.isReverted) return [];
    const asset = context.assets.find(({ token }) => token === NATIVE_TOKEN)?.known.id;
    const own = coin === null || asset === undefined ? [] : [{ block: mined.block, logIndex: -1, asset, ...coin }];
    return [...readTransfers(mined.logs), ...own];
  }

  return {
    name: endpoint.name,
    silentForMs: () => {
      const sinceMs = failingSinceMs ?? laggingSinceMs;
      return sinceMs === undefined ? 0 : Math.max(0, world.clock.nowMs() - sinceMs);
    },
    distrust: () => endpoint.distrust(),
    head,
    block: async (which) => (await call(blockCall(which))).found,
    isUsed: (item, commitment, atBlock) => call(usedCall(item, context.termsOf(item.asset), commitment, atBlock)),
    usedSlots: (account, atBlock) => call(nonceCall(account, atBlock)),
    holding: (account, asset, atBlock) => call(balanceCall(context.heldIn(asset), account, atBlock)),
    receipt: async (hash) => {
      const mined = await call(receiptCall(hash));
      if (mined === null) return undefined;
      const { logs, ...receipt } = mined;
      return {
        ...receipt,
        events: readAll(
          logs.filter((log) => isOurLog(context, log)),
          decode,
        ).logs,
      };
    },
    transfers,
    incoming,
    touching,
    events: (fromBlock, toBlock) => readEvents(fromBlock, toBlock),
  };
}

type MinedReceipt = Omit<Receipt, 'events'> & { readonly logs: readonly Record<string, unknown>[] };

function receiptCall(hash: string): RpcCall<MinedReceipt | null> {
  return {
    method: 'eth_getTransactionReceipt',
    params: [hash],
    read: (result) => {
      if (result === null) return null;
      const receipt = readFields(result);
      if (readHash(receipt.transactionHash) !== hash.toLowerCase()) throw new RangeError('another transaction');
      if (!Array.isArray(receipt.logs)) throw new TypeError('a receipt without logs');
      const logs = receipt.logs.filter(isObject);
      return { ...readReceipt(receipt), from: readData(receipt.from), logs };
    },
  };
}
