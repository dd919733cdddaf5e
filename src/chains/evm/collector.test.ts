import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type Address,
  decodeEventLog,
  encodeAbiParameters,
  encodeErrorResult,
  encodeEventTopics,
  getAddress,
  type Hex,
  keccak256,
  parseAbi,
} from 'viem';
import collector from '../../../contracts/artifacts/Collector.json' with { type: 'json' };
import {
  COLLECTOR_ABI,
  COLLECTOR_ADDRESS,
  commitmentOf,
  decodeBatchOutcome,
  decodeCollectorLog,
  encodeBatch,
  NONCE_SPACES,
  type NonceSpace,
  reasonOf,
  type SignedItem,
} from './collector.ts';
import { COLLECTORS } from './collectors.ts';

const hexOf = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((value): Hex => `0x${Buffer.from(value).toString('hex')}`);
const address = hexOf(20).map((value): Address => getAddress(value));
const units = fc.bigInt(0n, 2n ** 128n - 1n);
const item = fc.record({
  subject: hexOf(32),
  payer: address,
  amount: units,
  fee: units,
  recipient: address,
  deadline: fc.nat(2 ** 40 - 1),
});
const batch = fc.record({ chainId: fc.nat(), token: address, feeAccount: address });

const ITEM: SignedItem = {
  subject: `0x${'01'.repeat(32)}`,
  payer: getAddress(`0x${'02'.repeat(20)}`),
  amount: 5n,
  fee: 1n,
  recipient: getAddress(`0x${'03'.repeat(20)}`),
  deadline: 1_800_000_000,
  signature: `0x${'11'.repeat(32)}${'22'.repeat(32)}1c`,
};
const BATCH = { token: ITEM.payer, feeAccount: ITEM.recipient } as const;

describe('the codec of the Collector', () => {
  it('makes commitments as the contract does', () => {
    const types = 'uint256,address,uint256,address,address,bytes32,address,uint256,uint256,address,uint256'.split(',');
    const aSpace = fc.constantFrom(...(Object.keys(NONCE_SPACES) as NonceSpace[]));
    fc.assert(
      fc.property(item, batch, aSpace, (one, { chainId, token, feeAccount }, nonceSpace) => {
        const { subject, payer, amount, fee, recipient, deadline } = one;
        const order = [token, feeAccount, subject, payer, amount, fee, recipient, deadline];
        const words = encodeAbiParameters(
          types.map((type) => ({ type })),
          [chainId, COLLECTOR_ADDRESS, NONCE_SPACES[nonceSpace], ...order],
        );
        const place = { nonceSpace, chainId, collector: COLLECTOR_ADDRESS, token, feeAccount };
        assert.equal(commitmentOf({ ...one, ...place }), keccak256(words));
      }),
      { numRuns: 50 },
    );
  });

  it('makes commitments of the first release as that one does: a shorter subject, and no nonce space', () => {
    const types = 'uint256,address,address,address,bytes16,address,uint256,uint256,address,uint256'.split(',');
    fc.assert(
      fc.property(item, hexOf(16), batch, (one, subject, { chainId, token, feeAccount }) => {
        const { payer, amount, fee, recipient, deadline } = one;
        const collector = COLLECTORS[0]?.address as Address;
        const words = encodeAbiParameters(
          types.map((type) => ({ type })),
          [chainId, collector, token, feeAccount, subject, payer, amount, fee, recipient, deadline],
        );
        for (const nonceSpace of ['coin', 'token', 'permit2'] as const) {
          const place = { nonceSpace, chainId, collector, token, feeAccount };
          assert.equal(commitmentOf({ ...one, subject, ...place }), keccak256(words));
        }
      }),
      { numRuns: 50 },
    );
  });

  it('packs an item into 175 bytes', () => {
    const data = encodeBatch({ kind: 'eip3009-vrs', ...BATCH, items: [ITEM] });
    const packed = data.slice(2 + 2 * 100);
    const fields = [
      /(01){32}/,
      /(02){20}/,
      /(03){20}/,
      /0{31}5/,
      /0{31}1/,
      /006b49d200/,
      /0040/,
      /(11){32}/,
      /a2(22){31}/,
    ];
    assert.match(packed, new RegExp(`^${fields.map(({ source }) => source).join('')}$`));
  });

  it('keeps signature bytes as they are for the other kinds', () => {
    for (const kind of ['eip3009-bytes', 'permit2'] as const) {
      const data = encodeBatch({ kind, ...BATCH, items: [{ ...ITEM, signature: '0xabcdef' }] });
      assert.ok(data.endsWith('0003abcdef'));
    }
  });

  it('refuses numbers and signatures that do not fit', () => {
    const encode = (change: Partial<SignedItem>) => () =>
      encodeBatch({ kind: 'eip3009-vrs', ...BATCH, items: [{ ...ITEM, ...change }] });
    assert.throws(encode({ amount: 2n ** 128n }), RangeError);
    assert.throws(encode({ fee: -1n }), RangeError);
    assert.throws(encode({ deadline: 2 ** 40 }), RangeError);
    assert.throws(encode({ signature: '0x1234' }), RangeError);
  });

  it('reads the answer of a batch', () => {
    const answer = encodeAbiParameters([{ type: 'bytes' }], ['0x000000020102000200000003000105']);
    assert.deepEqual(decodeBatchOutcome(answer, 4), [
      { isCollected: false, reason: '0x0102' },
      { isCollected: true },
      { isCollected: false, reason: '0x' },
      { isCollected: false, reason: '0x05' },
    ]);
    assert.deepEqual(decodeBatchOutcome(encodeAbiParameters([{ type: 'bytes' }], ['0x']), 1), [{ isCollected: true }]);
    assert.throws(() => decodeBatchOutcome(answer, 3), RangeError);
    assert.throws(() => decodeBatchOutcome(encodeAbiParameters([{ type: 'bytes' }], ['0x00000002ff']), 1), RangeError);
  });

  it('reads its logs, and refuses others', () => {
    const commitment: Hex = `0x${'77'.repeat(32)}`;
    const topics = encodeEventTopics({ abi: COLLECTOR_ABI, eventName: 'Refused', args: { commitment } }) as Hex[];
    const data = encodeAbiParameters([{ type: 'bytes' }], ['0x1234']);
    assert.deepEqual(decodeCollectorLog({ topics, data }), { type: 'refused', commitment, reason: '0x1234' });
    assert.equal(decodeCollectorLog({ topics: [commitment], data }), undefined);
    assert.equal(decodeCollectorLog({ topics: [], data: '0x' }), undefined);
  });

  it('reads a payment as a general decoder does, and refuses data of another form', () => {
    fc.assert(
      fc.property(item, batch, hexOf(32), fc.nat(2), (one, { token, feeAccount }, commitment, nonceSpace) => {
        const { subject, payer, amount, fee, recipient, deadline } = one;
        const values = [nonceSpace, token, feeAccount, subject, payer, amount, fee, recipient, deadline] as const;
        const [{ inputs }] = parseAbi([
          'function terms(uint256, address, address, bytes32, address, uint256, uint256, address, uint256)',
        ]);
        const data = encodeAbiParameters(
          inputs,
          values.map((value) => (typeof value === 'number' ? BigInt(value) : value)) as never,
        );
        const topics = encodeEventTopics({ abi: COLLECTOR_ABI, eventName: 'Collected', args: { commitment } }) as Hex[];
        const { args } = decodeEventLog({
          abi: COLLECTOR_ABI,
          eventName: 'Collected',
          topics: topics as [Hex, Hex],
          data,
        });
        const { nonceSpace: space, feeAccount: account, deadline: end, ...paid } = args;
        const terms = { nonceSpace: space, feeAccount: account, deadline: end };
        assert.deepEqual(decodeCollectorLog({ topics, data }), { type: 'collected', ...paid, terms });
        const spoilt = `${data.slice(0, 66)}01${data.slice(68)}` as Hex;
        for (const wrong of [data.slice(0, -2), `${data}00`, `${data}${'0'.repeat(64)}`, '0x', spoilt] as Hex[]) {
          assert.throws(() => decodeCollectorLog({ topics, data: wrong }), RangeError);
        }
        assert.throws(() => decodeCollectorLog({ topics: topics.slice(0, 1), data }), RangeError);
        assert.throws(() => decodeCollectorLog({ topics: [...topics, commitment], data }), RangeError);
      }),
    );
  });

  it('has the entries and events of the contract', () => {
    const shape = (entry: { type: string; name?: string; inputs?: readonly { type: string }[] }) =>
      `${entry.type} ${entry.name}(${entry.inputs?.map(({ type }) => type)})`;
    const compiled = (collector.abi as Parameters<typeof shape>[0][]).map(shape);
    for (const entry of COLLECTOR_ABI.map(shape)) assert.ok(compiled.includes(entry), entry);
  });
});

describe('the reason of a refusal', () => {
  const abi = parseAbi([
    'error Error(string)',
    'error PayoutFailed(bytes)',
    'error InvalidNonce()',
    'error OutOfGas()',
  ]);
  const words = (message: string) => encodeErrorResult({ abi, errorName: 'Error', args: [message] });
  const payout = (reason: Hex) => encodeErrorResult({ abi, errorName: 'PayoutFailed', args: [reason] });

  it('has a name', () => {
    assert.equal(reasonOf(words('FiatTokenV2: authorization is used or canceled')), 'used');
    assert.equal(reasonOf(encodeErrorResult({ abi, errorName: 'InvalidNonce' })), 'used');
    assert.equal(reasonOf(encodeErrorResult({ abi, errorName: 'OutOfGas' })), 'out_of_gas');
    assert.equal(reasonOf(words('Blacklistable: account is blacklisted')), 'payer_blacklisted');
    assert.equal(reasonOf(payout(words('Blacklistable: account is blacklisted'))), 'recipient_blacklisted');
    assert.equal(reasonOf(payout(words('Pausable: paused'))), 'paused');
  });

  it('is unknown for an unknown error, or a truncated one', () => {
    for (const reason of [
      '0x',
      '0x12',
      words('Hello'),
      words('toString'),
      words('Pausable: paused').slice(0, 60),
      payout('0x'),
    ]) {
      assert.equal(reasonOf(reason as Hex), 'unknown');
    }
  });
});
