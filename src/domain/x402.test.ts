import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import {
  EXTENSIONS,
  headerText,
  isShortLived,
  misfitOf,
  readPaymentHeader,
  timeoutS,
  WRONG_END,
  type X402Payment,
} from './x402.ts';

const NOW_MS = 1_800_000_000_500;
const NOW_S = 1_800_000_000n;
const TOKEN = `0x${'Aa'.repeat(20)}`;
const PAYER = `0x${'Bb'.repeat(20)}`;
const ADDRESS = `0x${'Cc'.repeat(20)}`;
const NONCE = `0x${'Dd'.repeat(32)}`;

type Fields = Readonly<Record<string, unknown>>;
const AUTHORIZATION: Fields = {
  ...{ from: PAYER, to: ADDRESS, value: '1000', validAfter: '0', validBefore: '1800000100', nonce: NONCE },
};
const ACCEPTED: Fields = { scheme: 'exact', network: 'eip155:8453', asset: TOKEN };

interface Changes {
  readonly accepted?: unknown;
  readonly authorization?: unknown;
  readonly signature?: unknown;
  readonly whole?: Fields;
}

function headerWith({ accepted, authorization, signature = '0xEE', whole }: Changes = {}): string {
  const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
  const over = (base: Fields, change: unknown) => (isFields(change) ? { ...base, ...change } : base);
  return headerText({
    x402Version: 2,
    accepted: over(ACCEPTED, accepted),
    payload: { signature, authorization: over(AUTHORIZATION, authorization) },
    ...whole,
  });
}

const problemOf = (header: string) => {
  const read = readPaymentHeader(header);
  return read.ok ? undefined : read.problem;
};
const READ: X402Payment = {
  ...{ network: 'eip155:8453', asset: TOKEN.toLowerCase(), from: PAYER.toLowerCase(), to: ADDRESS.toLowerCase() },
  ...{ value: 1_000n, validAfter: 0n, validBefore: 1_800_000_100n, nonce: NONCE.toLowerCase(), signature: '0xee' },
  identifier: undefined,
};

describe('the header PAYMENT-SIGNATURE', () => {
  it('is read as JSON in base64, with addresses in lower case', () => {
    assert.deepEqual(readPaymentHeader(headerWith()), { ok: true, value: READ });
  });

  it('must be base64 and nothing else', () => {
    for (const wrong of ['', ' ', `${headerWith()} `, ` ${headerWith()}`, `${headerWith()}===`, 'a-b_', '{}', '====']) {
      assert.equal(problemOf(wrong), 'is not base64', wrong);
    }
    for (const padding of ['', '=', '==']) assert.notEqual(problemOf(`abcd${padding}`), 'is not base64');
  });

  it('must be a JSON object', () => {
    const texts = ['nonsense', '{', '[]', 'null', '1', '"text"', 'true'];
    for (const text of texts) {
      assert.equal(problemOf(Buffer.from(text).toString('base64')), 'is not a JSON object in base64', text);
    }
  });

  it('must be of version 2, with the scheme exact and an authorization', () => {
    for (const x402Version of [1, 3, '2', undefined])
      assert.equal(problemOf(headerWith({ whole: { x402Version } })), 'must be of x402Version 2');
    for (const part of ['accepted', 'payload'])
      for (const wrong of [undefined, null, [], 'text'])
        assert.equal(problemOf(headerWith({ whole: { [part]: wrong } })), 'must have accepted and payload');
    assert.equal(problemOf(headerWith({ accepted: { scheme: 'upto' } })), 'must accept the scheme exact');
    for (const authorization of [undefined, null, [], '0x'])
      assert.equal(
        problemOf(headerWith({ whole: { payload: { signature: '0xee', authorization } } })),
        'must have payload.authorization, of EIP-3009',
      );
  });

  it('must have every field, in its form', () => {
    const hex = (digits: number) => `0x${'a'.repeat(digits)}`;
    const networks = [
      '',
      'eip155',
      'ei:1',
      'eip155678:1',
      'EIP155:1',
      'eip155:',
      `eip155:${'1'.repeat(33)}`,
      ' eip155:1',
    ];
    const addresses = ['', hex(39), hex(41), 'a'.repeat(40), `x${hex(40)}`, `${hex(40)} `, `0x${'g'.repeat(40)}`, null];
    const numbers = ['', '-1', '01', '1.5', '0x1', '1e3', ' 1', '1 ', `1${'0'.repeat(78)}`, 1_000, null];
    const nonces = [hex(63), hex(65), 'a'.repeat(64), `${hex(64)} `, `x${hex(64)}`, ` ${hex(64)}`];
    const signatures = ['', '0x', hex(3), hex(2 * 8_192 + 2), `${hex(2)} `, ` ${hex(2)}`, 'aa'];
    const wrong: readonly [name: string, values: readonly unknown[], change: (value: unknown) => Changes][] = [
      ['network', networks, (network) => ({ accepted: { network } })],
      ['asset', addresses, (asset) => ({ accepted: { asset } })],
      ['from', addresses, (from) => ({ authorization: { from } })],
      ['to', addresses, (to) => ({ authorization: { to } })],
      ['value', numbers, (value) => ({ authorization: { value } })],
      ['validAfter', numbers, (validAfter) => ({ authorization: { validAfter } })],
      ['validBefore', numbers, (validBefore) => ({ authorization: { validBefore } })],
      ['nonce', nonces, (nonce) => ({ authorization: { nonce } })],
      ['signature', signatures, (signature) => ({ signature })],
    ];
    for (const [name, values, change] of wrong) {
      for (const value of values) {
        assert.equal(problemOf(headerWith(change(value))), `has no valid ${name}`, `${name} ${value}`);
      }
    }
    const longest = { network: `abcdefgh:${'A'.repeat(32)}` };
    const largest = { value: '9'.repeat(78), validAfter: '1' };
    for (const change of [
      ...[{ accepted: longest }, { accepted: { network: 'abc:1' } }, { authorization: largest }],
      ...[{ signature: hex(2) }, { signature: hex(2 * 8_192) }],
    ]) {
      assert.equal(problemOf(headerWith(change)), undefined);
    }
  });

  it('is refused with the first field that is wrong', () => {
    assert.equal(problemOf(headerWith({ accepted: { network: '' }, signature: '' })), 'has no valid network');
  });

  it('may name the request, as the schema that clients are given says', () => {
    const named = (id: unknown) => {
      const extensions = { 'payment-identifier': { info: { required: false, id } } };
      const read = readPaymentHeader(headerWith({ whole: { extensions } }));
      return read.ok ? read.value.identifier : read.problem;
    };
    const [shortest, longest] = ['Az09_-'.padEnd(16, 'x'), 'a'.repeat(128)];
    assert.deepEqual([named(shortest), named(longest), named(undefined)], [shortest, longest, undefined]);
    for (const wrong of ['', 'a'.repeat(15), 'a'.repeat(129), `${'a'.repeat(16)} `, ` ${'a'.repeat(16)}`, 7, null]) {
      assert.match(named(wrong) ?? '', /^has a payment-identifier that is not 16 to 128/, String(wrong));
    }
    const { info, schema } = EXTENSIONS['payment-identifier'];
    const isAllowed = new Ajv2020().compile(schema);
    assert.ok(isAllowed(info) && isAllowed({ ...info, id: shortest }) && isAllowed({ ...info, id: longest }));
    for (const id of ['', 'a'.repeat(15), 'a'.repeat(129), `${'a'.repeat(16)} `, 7]) {
      assert.equal(isAllowed({ ...info, id }), false);
    }
    for (const wrong of ['text', { required: 'no' }, { id: shortest }]) assert.equal(isAllowed(wrong), false);
    assert.equal(info.required, false, 'a header without a name is read as well');
    for (const extensions of [undefined, null, [], {}, { 'payment-identifier': null }, { 'payment-identifier': {} }]) {
      assert.deepEqual(readPaymentHeader(headerWith({ whole: { extensions } })), { ok: true, value: READ });
    }
  });
});

describe('an authorization of x402', () => {
  const asked = { payTo: ADDRESS, amount: 1_000n, expiresAtMs: 1_800_000_100_000 };
  const misfit = (change: Partial<X402Payment>) => misfitOf({ ...READ, ...change }, asked, NOW_MS);

  it('fits the asked address, the asked amount and the time of the payment', () => {
    assert.equal(misfit({}), undefined);
    assert.equal(misfit({ to: PAYER.toLowerCase() }), 'invalid_exact_evm_recipient_mismatch');
    for (const value of [999n, 1_001n])
      assert.equal(misfit({ value }), 'invalid_exact_evm_payload_authorization_value_mismatch');
  });

  it('is valid now: a block has its own clock, so not from this second on', () => {
    assert.equal(misfit({ validAfter: NOW_S - 1n }), undefined);
    for (const validAfter of [NOW_S, NOW_S + 1n])
      assert.equal(misfit({ validAfter }), 'invalid_exact_evm_payload_authorization_valid_after');
  });

  it('ends with the payment at the latest', () => {
    assert.equal(misfit({ validBefore: 1_800_000_100n }), undefined);
    assert.equal(misfit({ validBefore: 1_800_000_101n }), WRONG_END);
  });

  it('lives for twenty seconds more at least', () => {
    const atMs = 1_800_000_080_000;
    assert.equal(isShortLived(READ, atMs), false);
    assert.equal(isShortLived(READ, atMs + 1), true);
  });

  it('may be asked to live for half of the time that is left, and five minutes at most', () => {
    assert.deepEqual(
      [10_000, 11_999, 600_000, 602_000, 86_400_000].map((leftMs) => timeoutS(NOW_MS + leftMs, NOW_MS)),
      [5, 5, 300, 300, 300],
    );
  });
});
