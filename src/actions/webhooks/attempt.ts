import type { KeyObject } from 'node:crypto';
import { retryAfterMs } from '../../domain/webhook.ts';
import { signatureOf } from '../../domain/webhook-signature.ts';
import { type Answer, type Exchange, ExchangeError } from '../../guarded-http/exchange.ts';
import { unshifted } from '../../runtime/shifted-clock.ts';
import type { Clock } from '../../runtime/world.ts';

export interface Outcome {
  /** `gone`: the receiver answered 410, and wants no more deliveries. */
  readonly verdict: 'succeeded' | 'failed' | 'gone';
  readonly startedAtMs: number;
  readonly latencyMs: number;
  readonly answerStatus: number | null;
  /** The beginning of the answer's body. */
  readonly answer: string | null;
  readonly problem: string | null;
  readonly retryAfterMs?: number | undefined;
}

export interface Message {
  readonly url: string;
  readonly eventId: string;
  readonly body: Uint8Array;
  readonly secrets: readonly KeyObject[];
}

/** The limits of requests: the time and size of an answer, and the number of connections that stay open. */
export const ATTEMPT_LIMITS = { timeoutMs: 10_000, maxBytes: 64 * 1024, keptConnections: 32 };
const STORED_BYTES = 4 * 1024;
const GONE = 410;

/** Sends a signed message once. Never throws: every failure is an outcome. */
export async function attempt(
  { exchange, clock }: { readonly exchange: Exchange; readonly clock: Clock },
  { url, eventId, body, secrets }: Message,
): Promise<Outcome> {
  const startedAtMs = clock.nowMs();
  // Receivers compare the timestamp with their own clocks, which a sandbox cannot move.
  const timestampS = Math.floor(unshifted(clock).nowMs() / 1000);
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'till',
    'webhook-id': eventId,
    'webhook-timestamp': String(timestampS),
    'webhook-signature': signatureOf({ id: eventId, timestampS, body }, secrets),
  };
  try {
    const answer = await exchange({ url, method: 'POST', headers, body });
    return judge(answer, startedAtMs, clock.nowMs());
  } catch (error) {
    const problem = error instanceof ExchangeError ? sentenceOf(error) : 'The request could not be sent.';
    const latencyMs = Math.max(0, clock.nowMs() - startedAtMs);
    return { verdict: 'failed', startedAtMs, latencyMs, answerStatus: null, answer: null, problem };
  }
}

function judge({ status, headers, bytes }: Answer, startedAtMs: number, nowMs: number): Outcome {
  const isSuccess = status >= 200 && status < 300;
  return {
    verdict: isSuccess ? 'succeeded' : status === GONE ? 'gone' : 'failed',
    startedAtMs,
    latencyMs: Math.max(0, nowMs - startedAtMs),
    answerStatus: status,
    answer: textOf(bytes),
    problem: isSuccess ? null : problemOf(status),
    ...(!isSuccess && { retryAfterMs: retryAfterMs(headers['retry-after'], nowMs) }),
  };
}

/** The beginning of a body as text. Replaces bytes that are not UTF-8, and NUL, which PostgreSQL refuses in text. */
function textOf(bytes: Buffer): string {
  return bytes.subarray(0, STORED_BYTES).toString('utf8').replaceAll('\0', '\u{fffd}');
}

function problemOf(status: number): string {
  const isRedirect = status >= 300 && status < 400;
  return `The receiver answered ${status}.${isRedirect ? ' Redirects are not followed.' : ''}`;
}

function sentenceOf({ message }: ExchangeError): string {
  return `There was no answer: ${message}.`;
}
