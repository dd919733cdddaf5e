import { ContractFaultError } from '../chain-errors.ts';
import type { RpcCall, RpcError } from './json-rpc.ts';
import { type Hex, isObject, readData, toQuantity } from './rpc-values.ts';

/** The return data or revert data of a contract. Both are answers of the chain. */
export type Returned = { readonly data: Hex } | { readonly reverted: Hex };

export interface EthCall {
  readonly to: string;
  readonly data?: Hex;
  readonly from?: string;
  readonly gas?: number;
  readonly value?: Hex;
  readonly maxFeePerGas?: Hex;
  readonly maxPriorityFeePerGas?: Hex;
}

/**
 * Runs code on a node without a transaction, after the latest block or the given block. `read` decodes the return data or the
 * revert. If `read` throws, the contract is at fault and not the endpoint.
 */
export function ethCall<T>(call: EthCall, read: (returned: Returned) => T, atBlock?: number): RpcCall<T> {
  const interpret = (returned: Returned): T => {
    try {
      return read(returned);
    } catch (error) {
      if (error instanceof ContractFaultError) throw error;
      const isEmpty = 'data' in returned && returned.data === '0x';
      throw new ContractFaultError(call.to, isEmpty ? 'returned nothing' : 'returned something else than expected');
    }
  };
  return {
    ...requestOf(call, atBlock),
    read: (result) => interpret({ data: readData(result) }),
    readError: (error) => {
      const reverted = readRevert(error);
      return reverted === undefined ? undefined : { value: interpret({ reverted }) };
    },
    ...wordOf(call, (data) => read({ data }), atBlock),
  };
}

/** A call whose revert does not answer the question, so `read` receives return data only. */
export function ethRead<T>(call: EthCall, read: (data: Hex) => T, atBlock?: number): RpcCall<T> {
  const readReturned = (returned: Returned): T => {
    if ('reverted' in returned) throw new ContractFaultError(call.to, 'reverted');
    return read(returned.data);
  };
  return ethCall(call, readReturned, atBlock);
}

/** The answer, or undefined when a contract is at fault. */
export function unlessFaulty<T>(asked: Promise<T>): Promise<T | undefined> {
  return asked.catch((error: unknown) => {
    if (error instanceof ContractFaultError) return undefined;
    throw error;
  });
}

/**
 * The call in the form that the Lens (`lens.ts`) can batch. Empty if the call has a sender, a gas limit or a block, because the
 * Lens cannot set these.
 */
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

/** The error codes of a revert: Ethereum's own, and the one of Nethermind and related clients. */
const REVERT_CODES: readonly number[] = [3, -32015];

/**
 * Messages of clients for code that halted by a revert or by an invalid instruction. Old compilers, such as the one of Tether's
 * contract, compile a failed `assert` to an invalid instruction.
 */
const HALTED =
  /revert|invalid ?(fe)?opcode|opcode ?not ?found|bad instruction|invalid ?jump|bad jump|stack ?(und|ov)erflow/;

/**
 * The revert data of a contract, if the error reports a halt. Running out of gas is no answer: each node caps the gas of calls
 * differently, so it proves nothing about the chain.
 */
export function readRevert({ code, message, data }: RpcError): Hex | undefined {
  if (/out ?of ?gas/.test(message)) return undefined;
  if (!REVERT_CODES.includes(code) && !HALTED.test(message)) return undefined;
  const text = typeof data === 'string' ? data : isObject(data) && typeof data.data === 'string' ? data.data : '';
  const [bytes = '0x'] = /0x([0-9a-f]{2})*$/i.exec(text) ?? [];
  return bytes.toLowerCase() as Hex;
}
