import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decodeEventLog, encodeAbiParameters, encodeEventTopics, getAddress, type Hex, parseAbi } from 'viem';
import { decodeSweptLog } from './deposits.ts';

const ABI = parseAbi([
  'event Swept(bytes32 indexed commitment, address askedToken, address feeAccount, bytes32 subject, address recipient, uint256 asked, uint256 askedFee, address token, uint256 amount, uint256 fee)',
]);
const [{ inputs }] = ABI;

const hexOf = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((value): Hex => `0x${Buffer.from(value).toString('hex')}`);
const address = hexOf(20).map((value) => getAddress(value));
const units = fc.bigInt(0n, 2n ** 256n - 1n);

describe('the codec of deposit addresses', () => {
  it('reads a sweep as a general decoder does, and refuses data of another form', () => {
    const aSweep = fc.tuple(address, address, hexOf(32), address, units, units, address, units, units);
    fc.assert(
      fc.property(aSweep, hexOf(32), (values, commitment) => {
        const data = encodeAbiParameters(inputs.slice(1), values);
        const topics = encodeEventTopics({ abi: ABI, eventName: 'Swept', args: { commitment } }) as Hex[];
        const { args } = decodeEventLog({ abi: ABI, eventName: 'Swept', topics: topics as [Hex, Hex], data });
        const { askedToken, feeAccount, asked, askedFee, ...swept } = args;
        const terms = { askedToken, feeAccount, asked, askedFee };
        assert.deepEqual(decodeSweptLog({ topics, data }), { ...swept, terms });
        const spoilt: Hex = `0x01${data.slice(4)}`;
        for (const wrong of [data.slice(0, -2) as Hex, `${data}00` as Hex, spoilt]) {
          assert.throws(() => decodeSweptLog({ topics, data: wrong }), RangeError);
        }
        assert.throws(() => decodeSweptLog({ topics: topics.slice(0, 1), data }), RangeError);
      }),
    );
  });
});
