import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import { describe, it } from 'node:test';
import {
  provedArrival,
  RECEIPT_FORM,
  type Receipt,
  receiptKeyOf,
  receiptText,
  signReceipt,
  verifyText,
} from './receipt.ts';

const RECEIPT: Receipt = {
  form: RECEIPT_FORM,
  paymentId: 'pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6',
  merchantId: 'mrch_01KHRZ5Q8MB2N4P6R8T0V2X4Z6',
  referenceId: 'Café "42"',
  priceUnit: 'iso4217/USD',
  priceValue: '1000',
  succeededAt: '2026-03-01T00:00:00.000Z',
  network: 'eip155:8453',
  chainId: '8453',
  asset: 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  collector: '0x1111111111111111111111111111111111111111',
  payer: '0x2222222222222222222222222222222222222222',
  recipient: '0x3333333333333333333333333333333333333333',
  feeAccount: '0x4444444444444444444444444444444444444444',
  amount: '10000000',
  fee: '40000',
  deadline: '1772323500',
  commitment: `0x${'5'.repeat(64)}`,
  transaction: `0x${'6'.repeat(64)}`,
  blockNumber: '7',
  blockHash: `0x${'8'.repeat(64)}`,
  logIndex: '9',
};

describe('a receipt', () => {
  it('proves what was sent, or what was swept up to the asked amount', () => {
    const parts = (...amounts: number[]) => amounts.map((amount) => ({ amount: `${amount}` }));
    assert.equal(provedArrival(100n, [], []), 0n);
    assert.equal(provedArrival(100n, parts(60, 30), []), 90n);
    assert.equal(provedArrival(100n, parts(60, 70), parts(50)), 130n);
    assert.equal(provedArrival(100n, parts(10), parts(40, 50)), 90n);
    assert.equal(provedArrival(100n, parts(10), parts(100, 50)), 100n, 'a sweep carries late money, too');
  });

  it('has one text, whatever order its members come in', () => {
    const turned = Object.fromEntries(Object.entries(RECEIPT).reverse()) as unknown as Receipt;
    assert.equal(receiptText(turned), receiptText(RECEIPT));
    assert.match(receiptText(RECEIPT), /^\{"amount":"10000000","asset":/);
    assert.ok(receiptText(RECEIPT).includes('"referenceId":"Café \\"42\\""'));
  });

  it('is signed by a key that is the same on every node with the same seed, and any change breaks it', () => {
    // RFC 8032, section 7.1, test 1.
    const seed = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex');
    const key = receiptKeyOf(seed);
    assert.equal(
      Buffer.from(key.publicJwk.x, 'base64url').toString('hex'),
      'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    );
    assert.equal(receiptKeyOf(new Uint8Array(seed)).publicJwk.kid, key.publicJwk.kid);

    const { keyId, value } = signReceipt(key, RECEIPT);
    assert.equal(keyId, key.publicJwk.kid);
    const { kty, crv, alg, use } = key.publicJwk;
    assert.deepEqual([kty, crv, alg, use], ['OKP', 'Ed25519', 'EdDSA', 'sig']);
    assert.ok(verifyText(key.publicJwk.x, receiptText(RECEIPT), value));
    assert.ok(!verifyText(key.publicJwk.x, `${receiptText(RECEIPT)} `, value));
    const publicKey = createPublicKey({ key: { ...key.publicJwk }, format: 'jwk' });
    const isSigned = (receipt: Receipt) =>
      verify(null, Buffer.from(receiptText(receipt)), publicKey, Buffer.from(value, 'base64url'));
    assert.ok(isSigned(RECEIPT));
    for (const name of Object.keys(RECEIPT)) {
      assert.ok(!isSigned({ ...RECEIPT, [name]: 'other' }), name);
    }
  });
});
