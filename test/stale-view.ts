/** A JSON-RPC call. */
export interface RpcCall {
  readonly id?: unknown;
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** The position of the block parameter of each method. */
const BLOCK_PARAMETER: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getStorageAt: 2,
  eth_getTransactionCount: 1,
  eth_getBlockByNumber: 0,
  eth_feeHistory: 1,
};
const NEWEST = new Set(['latest', 'pending', 'safe', 'finalized']);

/**
 * The answer of a node that lags at that block: it is the newest one, and later blocks and their contents do not exist.
 */
export function asSeenFrom(head: number, call: RpcCall): { call: RpcCall; resultOf: (truth: unknown) => unknown } {
  const headHex = `0x${head.toString(16)}`;
  const same = (truth: unknown) => truth;
  if (call.method === 'eth_blockNumber') return { call, resultOf: () => headHex };
  if (call.method === 'eth_getLogs') {
    return {
      call,
      resultOf: (truth) => (Array.isArray(truth) ? truth.filter((log) => !isLater(log, head)) : truth),
    };
  }
  if (/^eth_getTransaction(Receipt|ByHash)$|^eth_getBlockByHash$/.test(call.method)) {
    return { call, resultOf: (truth) => (isLater(truth, head) ? null : truth) };
  }
  const place = BLOCK_PARAMETER[call.method];
  if (place === undefined) return { call, resultOf: same };
  const params = [...(call.params ?? [])];
  const block = params[place] ?? 'latest';
  if (call.method === 'eth_getBlockByNumber' && typeof block === 'string' && Number(block) > head) {
    return { call, resultOf: () => null };
  }
  if (typeof block !== 'string' || !NEWEST.has(block)) return { call, resultOf: same };
  params[place] = headHex;
  return { call: { ...call, params }, resultOf: same };
}

/** True if a log, transaction, receipt or block is above the head. */
function isLater(found: unknown, head: number): boolean {
  const { blockNumber, number } = (found ?? {}) as { blockNumber?: string; number?: string };
  return Number(blockNumber ?? number ?? 0) > head;
}
