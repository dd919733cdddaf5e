import { ApiError } from '../../errors.ts';

/** The JSON-RPC methods that the checkout page's wallet needs: reads, and sending signed transactions. */
const METHODS = new Set([
  'eth_blockNumber',
  'eth_call',
  'eth_chainId',
  'eth_estimateGas',
  'eth_feeHistory',
  'eth_gasPrice',
  'eth_getBalance',
  'eth_getBlockByNumber',
  'eth_getCode',
  'eth_getTransactionByHash',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
  'eth_maxPriorityFeePerGas',
  'eth_sendRawTransaction',
  'net_version',
]);
const MAX_BATCH = 20;
const TIMEOUT_MS = 10_000;

interface RpcRequest {
  readonly method: string;
  readonly id?: unknown;
}

/** Forwards JSON-RPC to the sandbox chain, so that the page needs no other origin. */
export async function passToChain(rpcUrl: string, body: unknown): Promise<unknown> {
  const calls: readonly unknown[] = Array.isArray(body) ? body : [body];
  if (calls.length === 0 || calls.length > MAX_BATCH || !calls.every(isRequest)) {
    throw new ApiError('invalid_params', `The body must be a JSON-RPC request, or up to ${MAX_BATCH} of them.`);
  }
  const refused = calls.find(({ method }) => !METHODS.has(method));
  if (refused !== undefined) {
    const error = { code: -32601, message: 'This method is not served here' };
    const answers = calls.map(({ id }) => ({ jsonrpc: '2.0', id: id ?? null, error }));
    return Array.isArray(body) ? answers : answers[0];
  }
  try {
    const response = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return await response.json();
  } catch {
    // The error of `fetch` is not passed on, because it names the endpoint.
    throw new ApiError('internal_error', 'The sandbox chain does not answer. Try again.', {
      status: 503,
      retryAfterS: 1,
    });
  }
}

function isRequest(value: unknown): value is RpcRequest {
  return typeof value === 'object' && value !== null && 'method' in value && typeof value.method === 'string';
}
