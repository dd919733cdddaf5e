import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseChainId } from '../caip.ts';
import {
  addressKey,
  bareListKey,
  caipKey,
  canonicalAddress,
  coinDecimals,
  FOLDED_PREFIXES,
  findTransactionId,
  isAddressForm,
  isSameAccount,
  isSameAddress,
  isSignatureForm,
  isZeroAccount,
  listKeysOf,
  noSignature,
  parseAddress,
  parseTransactionId,
  signatureRule,
  slotWord,
  spellBytes,
  spenderWord,
  unitKey,
  withoutChecksum,
  workWord,
} from './families.ts';

const BASE = 'eip155:8453';
const CLUSTER = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
const HEX = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const KEY = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const HASH = `0x${'aB'.repeat(32)}`;
const SIGNATURE = '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW';

describe('addresses of a family', () => {
  it('differ in case alone where case is a checksum', () => {
    for (const other of [HEX, HEX.toLowerCase(), HEX.toUpperCase()]) {
      assert.ok(isSameAddress(BASE, HEX, other));
      assert.ok(isSameAddress(`${BASE}/erc20:${HEX}`, other, HEX), 'any id names the network');
      assert.ok(isSameAccount(`${BASE}:${HEX}`, `${BASE}:${other}`));
    }
    assert.ok(!isSameAddress(BASE, HEX, `${HEX.slice(0, -1)}4`));
    assert.ok(!isSameAccount(`${BASE}:${HEX}`, `eip155:1:${HEX}`), 'another network');
  });

  it('are other addresses in another case where case distinguishes', () => {
    assert.ok(isSameAddress(CLUSTER, KEY, KEY));
    assert.ok(!isSameAddress(CLUSTER, KEY, KEY.toLowerCase()));
    assert.ok(!isSameAccount(`${CLUSTER}:${KEY}`, `${CLUSTER}:${KEY.toLowerCase()}`));
    assert.equal(caipKey(`${CLUSTER}/token:${KEY}`), `${CLUSTER}/token:${KEY}`);
    assert.deepEqual(listKeysOf(`${CLUSTER}:${KEY}`), [`${CLUSTER}:${KEY}`]);
    assert.equal(withoutChecksum(`${CLUSTER}:${KEY}`), `${CLUSTER}:${KEY}`);
  });

  it('are compared exactly where the family is not known', () => {
    assert.equal(addressKey('cosmos:hub', 'aB'), 'aB');
    assert.deepEqual(parseAddress('cosmos:hub', 'aB').ok, false);
    assert.ok(!isSignatureForm('cosmos:hub', HASH));
  });

  it('have one canonical spelling, whose key is that of every spelling', () => {
    assert.deepEqual(parseAddress(BASE, HEX.toLowerCase()), { ok: true, value: HEX });
    assert.equal(addressKey(BASE, HEX), addressKey(BASE, HEX.toLowerCase()));
    assert.deepEqual(parseAddress(CLUSTER, KEY), { ok: true, value: KEY });
    assert.equal(canonicalAddress(BASE, HEX.toLowerCase()), HEX);
    assert.equal(canonicalAddress(BASE, 'no address'), 'no address');
    assert.ok(!parseAddress(CLUSTER, HEX).ok && !parseAddress(BASE, KEY).ok);
    assert.ok(isAddressForm(HEX) && isAddressForm(KEY) && !isAddressForm(HASH) && !isAddressForm('0x'));
  });

  it('are zero on every network of the family', () => {
    assert.ok(isZeroAccount(`${BASE}:0x${'0'.repeat(40)}`));
    assert.ok(isZeroAccount(`${CLUSTER}:${'1'.repeat(32)}`));
    assert.ok(!isZeroAccount(`${BASE}:${HEX}`) && !isZeroAccount('no account'));
    assert.ok(!isZeroAccount(`${BASE}:10x${'0'.repeat(40)}`) && !isZeroAccount(`${CLUSTER}:2${'1'.repeat(32)}`));
  });

  it('are found in a list without a network where they are the same account on all networks', () => {
    assert.equal(bareListKey(HEX.toUpperCase()), HEX.toLowerCase());
    assert.deepEqual(listKeysOf(`${BASE}:${HEX}`), [`${BASE}:${HEX.toLowerCase()}`, HEX.toLowerCase()]);
    assert.equal(bareListKey(KEY), undefined);
    assert.equal(withoutChecksum(`EIP155:1:${HEX.toUpperCase()}`), `eip155:1:${HEX.toLowerCase()}`);
  });
});

it('ids of transactions have the form of their family', () => {
  assert.equal(parseTransactionId(BASE, HASH), HASH.toLowerCase());
  assert.equal(parseTransactionId(CLUSTER, SIGNATURE), SIGNATURE);
  assert.equal(parseTransactionId(CLUSTER, HASH), undefined);
  assert.equal(parseTransactionId(BASE, SIGNATURE), undefined);
  assert.equal(findTransactionId(SIGNATURE), SIGNATURE);
  assert.equal(findTransactionId(HASH), HASH.toLowerCase());
  assert.equal(findTransactionId('pay_01'), undefined);
  assert.ok(isSignatureForm(CLUSTER, SIGNATURE) && !isSignatureForm(BASE, SIGNATURE));
});

it('units are compared by their currency or their asset', () => {
  assert.equal(unitKey('iso4217/usd'), unitKey('iso4217/USD'));
  assert.equal(unitKey('iso4217/USD'), 'iso4217/usd');
  assert.equal(unitKey(`caip19/${BASE}/erc20:${HEX}`), unitKey(`caip19/${BASE}/erc20:${HEX.toLowerCase()}`));
  assert.notEqual(unitKey(`caip19/${CLUSTER}/token:${KEY}`), unitKey(`caip19/${CLUSTER}/token:${KEY.toLowerCase()}`));
});

it('the database folds the ids of the families that ignore case', () => {
  assert.deepEqual(FOLDED_PREFIXES, ['eip155:']);
});

describe('what a family writes', () => {
  it('is hexadecimal text on EVM chains, whose coins have 18 decimals', () => {
    assert.equal(noSignature(BASE), '0x');
    assert.equal(spellBytes(BASE, 'ab01'), '0xab01');
    assert.equal(coinDecimals(`${BASE}/slip44:60`), 18);
  });

  it('is without a prefix elsewhere, and its coins may have any decimals', () => {
    for (const network of [CLUSTER, 'cosmos:hub']) {
      assert.equal(noSignature(network), '');
      assert.equal(spellBytes(network, 'ab01'), 'ab01');
      assert.equal(coinDecimals(network), undefined);
    }
  });
});

it('messages have the words of the family', () => {
  const words = (network: string) => [
    slotWord(network),
    workWord(network),
    spenderWord(network),
    signatureRule(network),
  ];
  assert.deepEqual(words(BASE), ['nonce', 'gas', 'Permit2', 'a signature of 65 bytes, with a low s']);
  assert.deepEqual(words(CLUSTER), ['number', 'compute units', 'the delegate', 'a signature of 64 bytes']);
  assert.deepEqual(words('cosmos:hub'), ['number', 'units', 'the gateway', 'a signature']);
});

describe('the texts of a cluster', () => {
  it('are signatures with the lengths that 64 bytes can have, and nothing around them', () => {
    for (const length of [64, 90]) assert.ok(isSignatureForm(CLUSTER, 'k'.repeat(length)), String(length));
    for (const text of ['k'.repeat(63), 'k'.repeat(91), `${SIGNATURE} `, ` ${SIGNATURE}`, `0${SIGNATURE}`]) {
      assert.ok(!isSignatureForm(CLUSTER, text), text);
    }
  });

  it('are references of exactly 32 characters', () => {
    const reference = CLUSTER.slice('solana:'.length);
    const isReference = (text: string) => parseChainId(`solana:${text}`).ok;
    assert.ok(isReference(reference));
    for (const text of [reference.slice(1), `${reference}1`, `1${reference}`, `${reference.slice(1)}0`]) {
      assert.ok(!isReference(text), text);
    }
  });
});
