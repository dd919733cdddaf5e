import { type Hex, isObject } from './rpc-values.ts';

export interface RpcCall<T> {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Checks and decodes the answer. Throws when the answer has the wrong form. */
  readonly read: (result: unknown) => T;
  /** Reads an error that is an answer of the chain, such as a revert. Undefined for every other error. */
  readonly readError?: (error: RpcError) => { readonly value: T } | undefined;
  /** The lowest block that a node must have for its answer to count. */
  readonly minBlock?: number;
  /** True if the answer of a lagging node counts, too. */
  readonly toleratesLag?: boolean;
  /** True if a part of the answer is unreadable. A fully readable answer of another endpoint is preferred. */
  isFlawed?(answer: T): boolean;
  /** The call in the form that the Lens (`lens.ts`) can batch. In this form it is always for the latest block. */
  readonly word?: WordQuestion<T>;
}

/** A question to the Lens (`lens.ts`). The answer is one word of 32 bytes, or empty. */
export interface WordQuestion<T> {
  /** The address that the question is about. */
  readonly of: string;
  /** Calldata, or a question that needs no call. */
  readonly ask: Hex | 'code_size' | 'coin';
  readonly read: (returned: Hex) => T;
}

export interface RpcError {
  readonly code: number;
  /** The message in lower case. It is used to classify errors, and is never shown. */
  readonly message: string;
  readonly data: unknown;
}

/** The error that tells why an endpoint gave no usable answer. The message contains no text from the endpoint. */
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
 * The kinds of failures. down: the endpoint as a whole is at fault. throttled: it asks for a pause. behind: it has not seen the
 * block yet. unclear: this answer is unusable, others may be fine. unreadable: this answer is unusable, and a retry will not
 * help. batch_refused: the endpoint accepts only smaller batches.
 */
export type FailureKind = 'down' | 'throttled' | 'behind' | 'unclear' | 'unreadable' | 'batch_refused';

export type Answer = { readonly result: unknown } | { readonly error: RpcError };

/** The request text, with ids from `firstId` on. A single call is no batch, because not every server supports batches. */
export function writeRequest(calls: readonly RpcCall<unknown>[], firstId: number): string {
  const requests = calls.map(({ method, params }, index) => ({ jsonrpc: '2.0', id: firstId + index, method, params }));
  return JSON.stringify(requests.length === 1 ? requests[0] : requests);
}

/** One answer for each call, matched by id. Undefined where the server sent no answer. */
export function readResponse(text: string, firstId: number, count: number): readonly (Answer | undefined)[] {
  const parsed = parse(text);
  if (count > 1 && !Array.isArray(parsed)) {
    if (isObject(parsed) && 'error' in parsed)
      throw new EndpointFailure('batch_refused', 'refuses so many calls at once');
    throw new EndpointFailure('down', 'sent no answers to a batch');
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

/** True if the error asks for fewer calls. Providers also report "too many requests" as the error of a call, with HTTP status 200. */
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
