import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { isContractSignature, readKeySignature, recoverAddress } from './key-signature.ts';

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

describe('signatures of keys', () => {
  const account = privateKeyToAccount(generatePrivateKey());
  const digest = Buffer.alloc(32, 7);
  const signed = () => account.sign({ hash: `0x${digest.toString('hex')}` });

  it('give back the address that signed, whichever way v counts', async () => {
    const good = await signed();
    const v = Number.parseInt(good.slice(130), 16);
    for (const spelling of [
      good,
      good.slice(0, 130) + (v - 27).toString(16).padStart(2, '0'),
      good.toUpperCase().replace('0X', '0x'),
    ]) {
      const read = readKeySignature(spelling);
      assert.ok(read);
      assert.equal(read.bytes, good);
      assert.equal(recoverAddress(digest, read), account.address.toLowerCase());
    }
  });

  it('have one spelling: high s, 64 bytes and other values of v are none', async () => {
    const good = await signed();
    const s = BigInt(`0x${good.slice(66, 130)}`);
    const highS = `${good.slice(0, 66)}${(ORDER - s).toString(16).padStart(64, '0')}${good.endsWith('1b') ? '1c' : '1b'}`;
    const wrong = [
      highS,
      good.slice(0, 130),
      `${good}00`,
      `${good.slice(0, 130)}1d`,
      `${good.slice(0, 130)}02`,
      `${good.slice(0, 66)}${'0'.repeat(64)}1b`,
      good.slice(2),
      `${good.slice(0, 20)}zz${good.slice(22)}`,
      '0x',
      '',
    ];
    for (const text of wrong) assert.equal(readKeySignature(text), undefined, text);
  });

  it('that are impossible recover to no address', () => {
    const read = readKeySignature(`0x${'0'.repeat(64)}${'0'.repeat(63)}11b`);
    assert.ok(read);
    assert.equal(recoverAddress(digest, read), undefined);
  });
});

describe('signatures of wallet contracts', () => {
  it('may have any length but none, and must not need a wallet to be made first', () => {
    assert.equal(isContractSignature('0x01'), true);
    assert.equal(isContractSignature(`0x${'ab'.repeat(700)}`), true);
    for (const wrong of [
      '0x',
      '',
      '0x0',
      '0xzz',
      `0x${'ab'.repeat(9_000)}`,
      `0x${'00'.repeat(96)}${'6492'.repeat(16)}`,
    ]) {
      assert.equal(isContractSignature(wrong), false);
    }
  });
});
