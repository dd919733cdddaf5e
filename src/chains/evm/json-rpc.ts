import { type Hex, isObject } from './rpc-values.ts';

/** A question to an Ethereum node, and how its answer is to be read. */
export interface RpcCall<T> {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Checks the answer and makes it what it means; throws when it cannot be the answer to this question. */
  readonly read: (result: unknown) => T;
  /** Reads an error that is an answer, such as a revert; undefined when the error says nothing about the chain. */
  readonly readError?: (error: RpcError) => { readonly value: T } | undefined;
  /** Believe only a node that has seen this block. */
  readonly minBlock?: number;
  /** It does not matter how far the node has come. */
  readonly toleratesLag?: boolean;
  /** The same as a question that the Lens can ask together with others; always about the latest block. */
  readonly word?: WordQuestion<T>;
}

/** Something that is answered by one word, or with nothing. */
export interface WordQuestion<T> {
  /** An address. */
  readonly of: string;
  /** Calldata, or what needs no call. */
  readonly ask: Hex | 'code_size' | 'coin';
  readonly read: (returned: Hex) => T;
}

export interface RpcError {
  readonly code: number;
  /** In lower case. For telling errors apart, never for showing. */
  readonly message: string;
  readonly data: unknown;
}

/** Why an endpoint gave no answer that can be believed. The text is ours: nothing in it comes from the endpoint. */
export class EndpointFailure extends Error {
  readonly kind: FailureKind;
  readonly pauseMs: number;
  constructor(kind: FailureKind, text: string, pauseMs = 0) {
    super(text);
    this.name = 'EndpointFailure';
    this.kind = kind;
    this.pauseMs = pauseMs;
  }
}

/**
 * down: the endpoint as a whole is at fault. throttled: it asks for a pause. behind: it will know later. unclear: this one
 * answer says nothing; others may be fine. batch_refused: it wants fewer calls at once.
 */
export type FailureKind = 'down' | 'throttled' | 'behind' | 'unclear' | 'batch_refused';

export type Answer = { readonly result: unknown } | { readonly error: RpcError };

/** The text of the calls, numbered from `firstId`. One call goes alone: not every server knows batches. */
export function writeRequest(calls: readonly RpcCall<unknown>[], firstId: number): string {
  const requests = calls.map(({ method, params }, index) => ({ jsonrpc: '2.0', id: firstId + index, method, params }));
  return JSON.stringify(requests.length === 1 ? requests[0] : requests);
}

/** One answer for each call; undefined where the server sent none that can be told to be its. */
export function readResponse(text: string, firstId: number, count: number): readonly (Answer | undefined)[] {
  const parsed = parse(text);
  if (count > 1 && !Array.isArray(parsed)) {
    if (isObject(parsed) && 'error' in parsed)
      throw new EndpointFailure('batch_refused', 'refuses so many calls at once');
    throw new EndpointFailure('down', 'sent something else than answers to a batch');
  }
  const byId = new Map<unknown, Answer>();
  for (const entry of count > 1 ? (parsed as unknown[]) : [parsed]) {
    const answer = readAnswer(entry);
    if (answer !== undefined) byId.set((entry as { id: unknown }).id, answer);
  }
  return Array.from({ length: count }, (_, index) => byId.get(firstId + index));
}

function readAnswer(entry: unknown): Answer | undefined {
  if (!isObject(entry)) return undefined;
  if (isObject(entry.error)) {
    const { code, message, data } = entry.error;
    return {
      error: {
        code: Number.isInteger(code) ? (code as number) : 0,
        message: typeof message === 'string' ? message.toLowerCase() : '',
        data,
      },
    };
  }
  return entry.result === undefined ? undefined : { result: entry.result };
}

/** Providers also say "too many requests" inside an answer that is otherwise fine. */
export function isThrottling({ code, message }: RpcError): boolean {
  return code === 429 || code === -32029 || /rate.?limit|too many requests|capacity|quota|request limit/.test(message);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new EndpointFailure('down', 'sent something that is not JSON');
  }
}
