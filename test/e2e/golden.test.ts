import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { KNOWN_VERSIONS } from '../../src/domain/version.ts';
import { startTestGateway, type TestGateway } from '../gateway.ts';
import { type ManualTime, manualTime } from '../manual-time.ts';
import { happen, openShop, type Shop } from './shop.ts';

const FOLDER = join(import.meta.dirname, 'golden');
/** Writes the files instead of comparing with them: look at the difference before you commit it. */
const IS_UPDATE = process.env.TILL_UPDATE_GOLDEN !== undefined;

/**
 * Whole answers, as they were when they were agreed on, in each version of the API. Randomness stands still and time
 * passes only between two payments, so that ids and times are the same on every run.
 */
describe('answers in each version', () => {
  let time: ManualTime;
  let gateway: TestGateway;
  let shop: Shop;
  let paid: string;
  before(async () => {
    time = manualTime(Date.parse('2026-03-01T12:00:00.250Z'));
    const random = { bytes: (count: number) => new Uint8Array(count).fill(0x5a) };
    gateway = await startTestGateway({ world: { clock: time.clock, random } });
    shop = await openShop(gateway);
    paid = await payment('ORDER-1', '1999', 'confirmed', 'succeeded');
    await payment('ORDER-2', '500', 'confirmed', 'declined');
    await payment('ORDER-3', '250');
    await shop.cancel(await payment('ORDER-4', '100'));
    await payment('ORDER-5', '5');
    await time.advance(298_000);
  });
  after(() => gateway.stop());

  async function payment(referenceId: string, value: string, ...events: Parameters<typeof happen>[2][]) {
    await time.advance(1_000);
    const { paymentId } = await shop.created({ referenceId, amount: { unit: 'iso4217/USD', value } });
    await happen(gateway, paymentId, ...events);
    return paymentId;
  }

  for (const version of KNOWN_VERSIONS) {
    for (const [name, path] of [
      ['list', () => '/v1/merchants/payments?limit=4'],
      ['old-list', () => `/v1/merchants/${shop.merchant.id}/payments?sort_dir=asc`],
      ['status', () => `/v1/payments/${paid}/status`],
      ['details', () => `/v1/payments/${paid}`],
    ] as const) {
      it(`${name} of ${version}`, async () => {
        const url = path();
        const { statusCode, headers, body } = await gateway.call({
          url,
          headers: { ...shop.headers, 'pay-version': version },
        });
        const kept = ['pay-version', 'wcp-version', 'content-type', 'etag', 'deprecation', 'link'];
        const answer = {
          url,
          status: statusCode,
          headers: Object.fromEntries(kept.flatMap((key) => (key in headers ? [[key, headers[key]]] : []))),
          body: JSON.parse(body),
        };
        const file = join(FOLDER, `${name}.${version}.json`);
        if (IS_UPDATE) await writeFile(file, `${JSON.stringify(answer, null, 2)}\n`);
        assert.deepEqual(answer, JSON.parse(await readFile(file, 'utf8')));
      });
    }
  }
});
