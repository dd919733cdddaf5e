import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PaymentEvent } from './payment.ts';
import { factsAfter, type PaymentFacts, recordFacts, withRecordedFacts } from './payment-facts.ts';

const [CREATED, EXPIRES, NOW, DEADLINE] = [1, 2, 3, 4].map((day) => new Date(Date.UTC(2026, 0, day))) as [
  Date,
  Date,
  Date,
  Date,
];
const TOKEN = 'eip155:1/erc20:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const LOWER = 'eip155:1:0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed';
const CANONICAL = 'eip155:1:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const NONE: PaymentFacts = {
  ...{ status: 'requires_action', updatedAt: CREATED, failureCode: null, nativeDeadline: null, tokenAsset: null },
  ...{ tokenValue: null, buyerAccount: null, buyerName: null, buyerIcon: null, transactionHash: null },
  transactionNonce: null,
};
const PRICED = { createdAt: CREATED, expiresAt: EXPIRES, amountUnit: 'iso4217/USD', amountValue: '1000' };
const IN_TOKEN = { ...PRICED, amountUnit: `caip19/${TOKEN}`, amountValue: '77' };
const buyer = { account: LOWER, name: 'Wallet', icon: 'https://wallet.example/icon.png' };
const CONFIRMED: PaymentEvent = { type: 'confirmed', buyer, token: { asset: TOKEN, value: 5n }, isNative: false };
const BOUGHT = {
  ...{ buyerAccount: CANONICAL, buyerName: 'Wallet', buyerIcon: buyer.icon, tokenAsset: TOKEN, tokenValue: '5' },
};

describe('the facts of a payment', () => {
  const after = (
    event: PaymentEvent,
    to: PaymentFacts['status'],
    before: Partial<PaymentFacts> = {},
    created = PRICED,
  ) => factsAfter({ ...NONE, ...before, ...created }, event, { to, at: NOW });

  it('have the buyer and the token from the confirmation on, with the account in its canonical spelling', () => {
    assert.deepEqual(after(CONFIRMED, 'processing'), { ...NONE, ...BOUGHT, status: 'processing', updatedAt: NOW });
    const odd = after({ ...CONFIRMED, buyer: { ...buyer, account: 'nonsense' } }, 'processing');
    assert.equal(odd.buyerAccount, 'nonsense');
  });

  it('have the transaction from the success on', () => {
    const token = { asset: TOKEN, value: 5n };
    const success = (nonce: number | null) =>
      after({ type: 'succeeded', buyer, token, transaction: { hash: '0x1', nonce } }, 'succeeded');
    const paid = { ...NONE, ...BOUGHT, status: 'succeeded', updatedAt: NOW, transactionHash: '0x1' };
    assert.deepEqual(success(0), { ...paid, transactionNonce: '0' });
    assert.deepEqual(success(null), { ...paid, transactionNonce: null });
  });

  it('are those of a new payment after an attempt has lapsed, with the deadline of addresses that stay open', () => {
    const proof = { finalBlockAtMs: 0 };
    const before = { ...BOUGHT, status: 'processing', nativeDeadline: DEADLINE } as const;
    assert.deepEqual(after({ type: 'lapsed', proof }, 'requires_action', before), { ...NONE, updatedAt: NOW });
    const kept = after({ type: 'lapsed', proof, keepsAddresses: true }, 'requires_action', before);
    assert.deepEqual(kept, { ...NONE, updatedAt: NOW, nativeDeadline: DEADLINE });
    const inToken = after({ type: 'lapsed', proof }, 'requires_action', before, IN_TOKEN);
    assert.deepEqual([inToken.tokenAsset, inToken.tokenValue], [TOKEN, '77'], 'the price is in a token');
  });

  it('end at the expiry if the clock has ended the payment, and at the proof if the chain has', () => {
    assert.equal(after({ type: 'expired', proof: 'clock' }, 'expired').updatedAt, EXPIRES);
    assert.equal(after({ type: 'expired', proof: { finalBlockAtMs: 0 } }, 'expired').updatedAt, NOW);
    assert.equal(after({ type: 'cancelled', by: 'user' }, 'cancelled').updatedAt, NOW);
  });

  it('have the reason of a failure', () => {
    const failed = after({ type: 'failed', failureCode: 'declined_user' }, 'failed', BOUGHT);
    assert.deepEqual(failed, { ...NONE, ...BOUGHT, status: 'failed', updatedAt: NOW, failureCode: 'declined_user' });
  });

  it('are recorded as far as they are known, and shown again as they were', () => {
    const facts = { ...NONE, ...BOUGHT, status: 'processing', updatedAt: NOW, nativeDeadline: DEADLINE } as const;
    const record = JSON.parse(JSON.stringify(recordFacts(facts)));
    assert.deepEqual(Object.keys(record).sort(), [
      ...[
        'buyerAccount',
        'buyerIcon',
        'buyerName',
        'nativeDeadline',
        'status',
        'tokenAsset',
        'tokenValue',
        'updatedAt',
      ],
    ]);
    const later = {
      ...PRICED,
      ...NONE,
      status: 'succeeded',
      transactionHash: '0x1',
      failureCode: 'declined_user',
    } as const;
    assert.deepEqual(withRecordedFacts(later, record), { ...PRICED, ...facts });
    const { nativeDeadline: _, ...without } = record;
    assert.equal(withRecordedFacts(later, without).nativeDeadline, null);
  });

  it('of an empty record are those of the creation', () => {
    const later = { ...NONE, ...BOUGHT, status: 'succeeded', updatedAt: NOW } as const;
    assert.deepEqual(withRecordedFacts({ ...PRICED, ...later }, {}), { ...PRICED, ...NONE });
    const inToken = { ...IN_TOKEN, ...NONE, tokenAsset: TOKEN, tokenValue: '77' };
    assert.deepEqual(withRecordedFacts({ ...IN_TOKEN, ...later }, {}), inToken);
  });
});
