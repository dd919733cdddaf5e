import assert from 'node:assert/strict';
import { readExportPage } from '../../src/store/payments/payment-export.ts';
import { ASSETS } from '../registry.ts';
import { UNFILTERED } from '../unfiltered.ts';
import type { RefundScene } from './refund-scene.ts';

/** The lines of a payment in an export for bookkeepers: type, amount and value. Both add up to zero. */
export async function bookkeepingOf(scene: RefundScene, id: string): Promise<string[]> {
  const { partnerId } = await scene.payment(id);
  const { texts } = await readExportPage(scene.db.sql, {
    ...UNFILTERED,
    partnerId,
    mode: 'test',
    statuses: ['succeeded'],
    named: { by: 'id', id },
    now: new Date(),
    content: 'bookkeeping',
    format: 'jsonl',
    known: ASSETS,
    afterId: undefined,
    limit: 50,
  });
  const lines = texts
    .join('')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  for (const name of ['amount', 'fiatAmount']) {
    assert.equal(Math.abs(Math.round(lines.reduce((sum, each) => sum + Number(each[name]) * 1e6, 0))), 0, name);
  }
  return lines.map(({ type, amount, fiatAmount, fiatCurrency }) => `${type} ${amount} ${fiatAmount} ${fiatCurrency}`);
}
