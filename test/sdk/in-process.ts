import { createTill, type TillOptions } from '../../sdk/src/till.ts';
import type { TestGateway } from '../gateway.ts';

type Fetch = NonNullable<TillOptions['fetch']>;

/** `fetch` that calls a gateway of this process. Every answer is checked against `openapi.json`. */
export function fetchFrom(gateway: TestGateway): Fetch {
  return async (url, init) => {
    const { pathname, search } = new URL(url);
    const call = gateway.call({
      method: init.method as 'GET' | 'POST',
      url: pathname + search,
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(init.body !== undefined && { payload: String(init.body) }),
    });
    const { statusCode, body, headers } = await Promise.race([call, abortOf(init.signal)]);
    const isEmpty = body === '';
    return new Response(isEmpty ? null : body, { status: statusCode, headers: headers as Record<string, string> });
  };
}

/** A client of a gateway of this process. */
export function tillOf(gateway: TestGateway, apiKey: string, options: Partial<TillOptions> = {}) {
  return createTill({ baseUrl: 'http://till.test', apiKey, fetch: fetchFrom(gateway), ...options });
}

function abortOf(signal: AbortSignal | null | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
