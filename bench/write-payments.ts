import { randomBytes } from 'node:crypto';
import { newId } from '../src/domain/ids.ts';
import { insertPayments, type NewPayment } from '../src/store/payments/new-payments.ts';
import { type Gateway, merchantId } from './gateway.ts';

const PER_STATEMENT = 1_000;
const OPEN_MS = 24 * 3_600_000;

/**
 * Writes payments with the statement that creates them, without requests: their events, batches and totals are written as
 * usual, in a fraction of the time. The merchants take turns.
 */
export async function writePayments(
  { single }: Pick<Gateway, 'single'>,
  { count, merchants, aheadMs }: { readonly count: number; readonly merchants: number; readonly aheadMs: number },
): Promise<void> {
  for (let done = 0; done < count; done += PER_STATEMENT) {
    const nowMs = Date.now() + aheadMs;
    const payments = Array.from(
      { length: Math.min(PER_STATEMENT, count - done) },
      (_, index): NewPayment => ({
        id: newId('pay_', nowMs, randomBytes(10)),
        sealedId: randomBytes(16).toString('hex'),
        merchantId: merchantId(((done + index) % merchants) + 1),
        referenceId: `WRITTEN-${done + index}`,
        amountUnit: 'iso4217/USD',
        amountValue: '1000',
        amountDecimals: 2,
        expiresAtMs: nowMs + OPEN_MS,
        successUrl: null,
        errorUrl: null,
        tokenAsset: null,
        details: null,
        claim: null,
        requestHash: null,
        actor: 'bench',
      }),
    );
    const made = await single(insertPayments(payments, new Date(nowMs)));
    if (made.size !== payments.length)
      throw new Error(`Only ${made.size} of ${payments.length} payments were written.`);
  }
}
