import type { TillEvent } from '../../sdk/src/api-types.ts';
import { sign } from '../../sdk/src/webhooks.ts';
import type { World } from '../runtime/world.ts';

/** The time that a receiver has for its answer, as for webhooks. */
const WITHIN_MS = 10_000;

export interface Forwarded {
  /** The status of the answer; null if there was none. */
  readonly status: number | null;
  /** The reason why there was no answer. */
  readonly problem?: string;
  readonly tookMs: number;
  /** True for a 2xx. */
  readonly isTaken: boolean;
}

/** Sends the event as the gateway sends a webhook. It is tried once: this is for a program that is being written. */
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
    await response.body?.cancel();
    return { status: response.status, tookMs: clock.nowMs() - startedMs, isTaken: response.ok };
  } catch (error) {
    return { status: null, problem: problemOf(error), tookMs: clock.nowMs() - startedMs, isTaken: false };
  }
}

/** `fetch` has the reason in the cause, sometimes one for each address. */
export function problemOf(error: unknown): string {
  const { name, cause, code, message } = error as Error & { code?: unknown; cause?: unknown };
  if (name === 'TimeoutError') return `no answer within ${WITHIN_MS / 1000} s`;
  if (cause !== undefined && cause !== null) return problemOf(cause);
  return typeof code === 'string' ? code : message || name || String(error);
}
