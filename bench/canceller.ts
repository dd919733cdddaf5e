import { performance } from 'node:perf_hooks';
import { call, type PaymentRef } from './calls.ts';

/** Cancels payments at an even pace, whether or not the answers keep up, and records the time of each answer. */
export interface CancelOrder {
  readonly port: number;
  readonly apiKey: string;
  readonly payments: readonly PaymentRef[];
  readonly perSecond: number;
}
export interface CancelReport {
  readonly answeredAtMs: readonly [paymentId: string, atMs: number][];
  readonly tookMs: number;
}

process.on('disconnect', () => process.exit());
process.on('message', (order: CancelOrder) => void cancelAll(order));

async function cancelAll({ port, apiKey, payments, perSecond }: CancelOrder): Promise<void> {
  const answeredAtMs: [paymentId: string, atMs: number][] = [];
  const startMs = performance.now();
  const pending: Promise<void>[] = [];
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(payments.length, Math.floor(((performance.now() - startMs) * perSecond) / 1000));
      for (const payment of payments.slice(pending.length, due)) pending.push(cancel(payment));
      if (pending.length < payments.length) return;
      clearInterval(timer);
      resolve();
    }, 5);
  });
  await Promise.all(pending);
  process.send?.({ answeredAtMs, tookMs: performance.now() - startMs } satisfies CancelReport);

  async function cancel({ id, merchant }: PaymentRef): Promise<void> {
    const headers = { 'Api-Key': apiKey, 'Merchant-Id': merchant };
    await call({ port, method: 'POST', path: `/v1/payments/${id}/cancel`, headers });
    // The answer is sent after the commit: from here on no client may read the old status.
    answeredAtMs.push([id, performance.timeOrigin + performance.now()]);
  }
}
