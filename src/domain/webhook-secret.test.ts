import assert from 'node:assert/strict';
import { createHmac, createSecretKey } from 'node:crypto';
import { describe, it } from 'node:test';
import { isWebhookSecret } from './webhook-secret.ts';
import { SECRET_BYTES, secretText, signatureOf } from './webhook-signature.ts';

const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 0xfb).toString('base64')}`;

describe('a secret of webhooks', () => {
  it('is whsec_ and 24 to 64 bytes in base64', () => {
    for (let bytes = 24; bytes <= 64; bytes += 1) assert.ok(isWebhookSecret(secretOf(bytes)), `${bytes}`);
    for (const bytes of [0, 1, 22, 23, 65, 66, 67, 100]) assert.ok(!isWebhookSecret(secretOf(bytes)), `${bytes}`);
  });

  it('has one spelling', () => {
    const right = secretOf(32);
    const wrong = [
      ...[right.slice(0, -1), `${right}=`, ` ${right}`, `${right} `, `x${right}`, right.replace('whsec_', '')],
      ...[right.replace('whsec_', 'WHSEC_'), right.replaceAll('+', '-'), `${right.slice(0, -2)}9=`, ''],
    ];
    for (const text of wrong) assert.ok(!isWebhookSecret(text), text);
  });

  it('is made by us of 256 bits', () => {
    assert.equal(8 * SECRET_BYTES, 256);
    assert.equal(secretText(Buffer.alloc(32, 0xfb)), secretOf(32));
    assert.ok(isWebhookSecret(secretText(new Uint8Array(SECRET_BYTES))));
  });
});

describe('the signature of a webhook', () => {
  it('is one HMAC for each secret, of the id, the time and the body', () => {
    const keys = [1, 2].map((byte) => Buffer.alloc(32, byte));
    const message = { id: 'evt_1', timestampS: 1_800_000_000, body: Buffer.from('{"a":1}') };
    const expected = keys.map(
      (key) => `v1,${createHmac('sha256', key).update('evt_1.1800000000.{"a":1}').digest('base64')}`,
    );
    assert.equal(signatureOf(message, keys.map(createSecretKey)), expected.join(' '));
  });
});
