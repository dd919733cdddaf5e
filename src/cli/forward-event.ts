import type { TillEvent } from '../../sdk/src/api-types.ts';
import { sign } from '../../sdk/src/webhooks.ts';
import type { World } from '../runtime/world.ts';

/** How long a receiver may take to answer: the same time as for webhooks. */
const WITHIN_MS = 10_000;
const MAX_TEXT_BYTES = 200;

export interface Forwarded {
  /** The HTTP status, or null if there was no answer. */
  readonly status: number | null;
  readonly problem?: string;
  readonly tookMs: number;
  /** The beginning of the answer's body, in one line, if the receiver refused the event. */
  readonly text?: string;
  /** True if the receiver answered with a 2xx status. */
  readonly isTaken: boolean;
}

/** Sends the event as the gateway sends a webhook, but without retries: the receiver is a program under development. */
export async function forwardEvent(
  { world }: { readonly world: World },
  event: TillEvent,
  { url, secret, signal }: { readonly url: string; readonly secret: string; readonly signal: AbortSignal },
): Promise<Forwarded> {
  const { clock } = world;
  const body = JSON.stringify(event);
  const startedMs = clock.nowMs();
  const signed = await sign({ id: event.id, body, secret, timestampS: Math.floor(startedMs / 1000) });
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...signed },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(WITHIN_MS)]),
    });
    const tookMs = clock.nowMs() - startedMs;
    const text = response.ok ? '' : await firstText(response);
    await response.body?.cancel().catch(() => {});
    return { status: response.status, tookMs, isTaken: response.ok, ...(text !== '' && { text }) };
  } catch (error) {
    return { status: null, problem: problemOf(error), tookMs: clock.nowMs() - startedMs, isTaken: false };
  }
}

/**
 * The beginning of a body, which often contains the reason of a refusal. Only the first chunk is read, because the body may be
 * endless.
 */
async function firstText({ body }: Response): Promise<string> {
  const reader = body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  reader?.releaseLock();
  return new TextDecoder().decode(value?.subarray(0, MAX_TEXT_BYTES)).replace(/\s+/g, ' ').trim();
}

/**
 * The reason why a `fetch` failed: it is in the error's cause. If several addresses failed, the cause is an `AggregateError`, which
 * also has a code.
 */
export function problemOf(error: unknown): string {
  const { name, cause, code, message } = error as Error & { code?: unknown; cause?: unknown };
  if (name === 'TimeoutError') return `no answer within ${WITHIN_MS / 1000} s`;
  if (cause !== undefined && cause !== null) return problemOf(cause);
  return typeof code === 'string' ? code : message || name || String(error);
}
