import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { idFromBytes } from './ids.ts';
import { codeInPath, openSignCode, SIGN_PATH, signCode, signPath } from './sign-code.ts';

const KEYS = [new Uint8Array(32).fill(1)] as const;
const OTHER_KEYS = [new Uint8Array(32).fill(2)] as const;
const [REFUND, OTHER] = [1, 2].map((byte) => idFromBytes('rfnd_', new Uint8Array(16).fill(byte))) as [string, string];

describe('the code of a refund that its merchant signs', () => {
  const code = signCode(KEYS, REFUND);

  it('leads to its refund, and nobody else can make it', () => {
    assert.equal(openSignCode(KEYS, code), REFUND);
    assert.equal(openSignCode(OTHER_KEYS, code), undefined);
    const secret = code.slice(REFUND.length);
    for (const wrong of [REFUND, `${REFUND}.`, `${OTHER}${secret}`, `${code}x`, `${code}.`, `${code}.x`, secret, '']) {
      assert.equal(openSignCode(KEYS, wrong), undefined, wrong);
    }
  });

  it('is of a refund alone', () => {
    const payout = REFUND.replace('rfnd_', 'pout_');
    assert.equal(openSignCode(KEYS, signCode(KEYS, payout)), undefined);
  });

  it('is in the path of its page', () => {
    const path = signPath(KEYS, REFUND);
    assert.ok(path.startsWith(SIGN_PATH) && !path.includes('rfnd_'));
    assert.equal(codeInPath(path.slice(SIGN_PATH.length)), code);
  });
});
