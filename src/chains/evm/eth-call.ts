import type { RpcCall, RpcError } from './json-rpc.ts';
import { type Hex, isObject, readData, toQuantity } from './rpc-values.ts';

/** What a contract returned, or that it reverted. Both are answers of the chain. */
export type Returned = { readonly data: Hex } | { readonly reverted: Hex };

export interface EthCall {
  readonly to: string;
  readonly data?: Hex;
  readonly from?: string;
  readonly gas?: number;
  readonly value?: Hex;
}

/** Runs code on a node without a transaction, after the latest block or the given one. */
export function ethCall(call: EthCall, atBlock?: number): RpcCall<Returned> {
  return {
    ...requestOf(call, atBlock),
    read: (result) => ({ data: readData(result) }),
    readError: readRevert,
    ...wordOf(call, (data) => ({ data }), atBlock),
  };
}

/** A call whose revert is no answer to what is asked. */
export function ethRead<T>(call: EthCall, read: (data: Hex) => T, atBlock?: number): RpcCall<T> {
  return { ...requestOf(call, atBlock), read: (result) => read(readData(result)), ...wordOf(call, read, atBlock) };
}

/** As a call that may revert, in the words of the caller. */
export function mapReturned<T>(call: RpcCall<Returned>, read: (returned: Returned) => T): RpcCall<T> {
  const { word, isFlawed: _, ...rest } = call;
  return {
    ...rest,
    read: (result) => read(call.read(result)),
    readError: (error) => {
      const reverted = call.readError?.(error);
      return reverted === undefined ? undefined : read(reverted);
    },
    ...(word && { word: { ...word, read: (data) => read(word.read(data)) } }),
  };
}

/** Who asks, and with how much gas, cannot be chosen when it is asked along with others. */
function wordOf<T>(
  { to, data, from, gas }: EthCall,
  read: (data: Hex) => T,
  atBlock?: number,
): Pick<RpcCall<T>, 'word'> {
  const canShare = data !== undefined && from === undefined && gas === undefined && atBlock === undefined;
  return canShare ? { word: { of: to, ask: data, read } } : {};
}

function requestOf(call: EthCall, atBlock?: number): Pick<RpcCall<unknown>, 'method' | 'params' | 'minBlock'> {
  const gas = call.gas === undefined ? {} : { gas: toQuantity(call.gas) };
  const block = atBlock === undefined ? 'latest' : toQuantity(atBlock);
  const request = { method: 'eth_call', params: [{ ...call, ...gas }, block] };
  return atBlock === undefined ? request : { ...request, minBlock: atBlock };
}

/** Nethermind and its relatives say so by this code. */
const VM_EXECUTION_ERROR = -32015;

/**
 * Clients agree on little more than the word. Running out of gas is not among it: nodes cap the gas of calls as they
 * like, so it says nothing about the chain.
 */
function readRevert({ code, message, data }: RpcError): { readonly reverted: Hex } | undefined {
  if (/out of gas/.test(message)) return undefined;
  if (code !== 3 && code !== VM_EXECUTION_ERROR && !/revert/.test(message)) return undefined;
  const text = typeof data === 'string' ? data : isObject(data) && typeof data.data === 'string' ? data.data : '';
  const [bytes = '0x'] = /0x([0-9a-f]{2})*$/i.exec(text) ?? [];
  return { reverted: bytes.toLowerCase() as Hex };
}
