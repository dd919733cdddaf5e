import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SECTIONS } from './conformance-sentences.ts';

/** A sentence that is added to the specification or taken from it changes its section's number. */
const ROWS: Readonly<Record<string, number>> = {
  'What the service does': 10,
  Amounts: 11,
  'The payment': 16,
  'The payment in lists': 18,
  'Statistics of lists': 4,
  'The merchant': 9,
  States: 9,
  'Create a payment: `POST /v1/payments`': 21,
  'Details: `GET /v1/payments/{id}`': 7,
  'Status: `GET /v1/gateway/payment/{id}/status` and `GET /v1/payments/{id}/status`': 10,
  'Payments of a merchant: `GET /v1/merchants/payments`': 26,
  'Merchants: `GET /v1/merchants`': 11,
  'Create a merchant: `POST /v1/merchants`': 12,
  'Other routes': 29,
  Authentication: 9,
  Events: 2,
  Errors: 7,
  'Error codes': 33,
  Limits: 8,
  Versions: 4,
};

describe('the page about conformance', () => {
  it('has every sentence of each section', () => {
    const rows = Object.entries(SECTIONS).map(([title, proofs]) => [
      title,
      proofs.flatMap(([, , sentences]) => sentences).length,
    ]);
    assert.deepEqual(Object.fromEntries(rows), ROWS);
  });
});
