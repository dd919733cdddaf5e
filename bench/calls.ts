import { Agent, request } from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Gateway, merchantId } from './gateway.ts';

/** A payment with the merchant that may read it. */
export interface PaymentRef {
  readonly id: string;
  readonly merchant: string;
}

export interface Call {
  readonly port: number;
  readonly method?: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

const TIMEOUT_MS = 60_000;
const MAX_ATTEMPTS = 5;
const RETRY_MS = 1_000;
const CREATE_CONCURRENCY = 64;
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** One request over a kept connection; any failure is an error, since it would falsify the measurement. */
export function call({ port, method = 'GET', path, headers, body }: Call): Promise<{ text: string; ms: number }> {
  return new Promise((resolve, reject) => {
    const startMs = performance.now();
    const sent = request({ agent, port, method, path, headers, host: '127.0.0.1', timeout: TIMEOUT_MS }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (piece: string) => {
        text += piece;
      });
      answer.on('error', reject);
      answer.on('end', () => {
        const ms = performance.now() - startMs;
        if (answer.statusCode === 200 || answer.statusCode === 201) resolve({ text, ms });
        else reject(new Error(`${method} ${path} answered ${answer.statusCode}: ${text.slice(0, 300)}`));
      });
    });
    sent.on('error', reject);
    sent.on('timeout', () => sent.destroy(new Error(`${method} ${path} was not answered in ${TIMEOUT_MS} ms.`)));
    sent.end(body);
  });
}

/** Retries when a node that has just started answers that it is busy, as any client should. */
async function patiently(input: Call): Promise<{ text: string; ms: number }> {
  for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt += 1) {
    try {
      return await call(input);
    } catch {
      await sleep(RETRY_MS);
    }
  }
  return call(input);
}

/** Creates payments through the API, spread over the merchants, open for a day. */
export async function createPayments(gateway: Gateway, { count, merchants }: { count: number; merchants: number }) {
  const payments: PaymentRef[] = [];
  const expiresAt = Math.floor(Date.now() / 1000) + 24 * 3600;
  let started = 0;
  const worker = async () => {
    while (started < count) {
      started += 1;
      const number = started;
      const merchant = merchantId((number % merchants) + 1);
      const { text } = await patiently({
        port: gateway.port,
        method: 'POST',
        path: '/v1/payments',
        headers: { 'Api-Key': gateway.apiKey, 'Merchant-Id': merchant, 'Content-Type': 'application/json' },
        body: JSON.stringify({
          amount: { unit: 'iso4217/USD', value: '1000' },
          referenceId: `SEED-${number}`,
          expiresAt,
        }),
      });
      payments.push({ id: (JSON.parse(text) as { paymentId: string }).paymentId, merchant });
    }
  };
  await Promise.all(Array.from({ length: CREATE_CONCURRENCY }, worker));
  return payments;
}
