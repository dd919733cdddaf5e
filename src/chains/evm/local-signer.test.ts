import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { recoverAddress } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { createLocalSigner } from './local-signer.ts';

const KEY = `0x${'5a'.repeat(32)}` as const;

describe('a signer with a key of its own', () => {
  it('has the address of the key, and signs for it', async () => {
    const signer = createLocalSigner(KEY);
    assert.equal(signer.address, privateKeyToAddress(KEY));
    for (let count = 0; count < 8; count += 1) {
      const digest = new Uint8Array(32).fill(count + 1);
      const { r, s, yParity } = await signer.sign(digest);
      const signature = { r: word(r), s: word(s), yParity };
      assert.equal(await recoverAddress({ hash: digest, signature }), signer.address);
    }
  });

  it('never shows its key', () => {
    const signer = createLocalSigner(KEY);
    const shown = [inspect(signer, { depth: 9, showHidden: true }), JSON.stringify(signer), `${signer}`].join('\n');
    assert.doesNotMatch(shown, /5a5a/i);
  });

  it('refuses an invalid key, without repeating it', () => {
    for (const wrong of ['', '0x12', `${KEY}00`, `0x${'00'.repeat(32)}`, `0x${'ff'.repeat(32)}`]) {
      assert.throws(
        () => createLocalSigner(wrong),
        (error) => error instanceof Error && (wrong === '' || !error.message.includes(wrong)),
      );
    }
  });
});

const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}` as const;
