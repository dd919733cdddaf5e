import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import type { Address, Hex } from 'viem';
import {
  DEPOSITS_ADDRESS,
  type DepositTerms,
  depositAddress,
  depositCommitment,
} from '../../src/chains/evm/deposits.ts';
import { type CollectorChain, createCollectorChain, USDC } from './collector-chain.ts';
import { createDepositScene, type DepositScene } from './deposit-scene.ts';

const stepArbitrary = fc.oneof(
  fc.record({
    do: fc.constant('arrive' as const),
    place: fc.nat(7),
    amount: fc.oneof(fc.bigInt(0n, 400n), fc.bigInt(0n, 2n ** 100n)),
  }),
  fc.record({
    do: fc.constant('sweep' as const),
    /** Indexes of deposit addresses; some of them twice. */
    places: fc.array(fc.nat(7), { minLength: 1, maxLength: 8 }),
    /** A stranger bends a term of the first one. */
    bend: fc.constantFrom('none', 'none', 'recipient', 'fee', 'amount'),
  }),
  fc.record({ do: fc.constant('list' as const), place: fc.nat(7) }),
);

describe('random transfers and sweeps of strangers', () => {
  let chain: CollectorChain;
  let scene: DepositScene;
  before(async () => {
    chain = await createCollectorChain();
    scene = createDepositScene(chain);
  });
  after(() => chain.evm.close());

  it('leave every unit with its recipient, the fee account, or where it arrived', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(stepArbitrary, { minLength: 1, maxLength: 12 }), async (steps) => {
        const feeAccount = chain.someone().address;
        const thief = chain.someone().address;
        const fees = [0n, 1n, 7n, 33n, 50n, 99n, 100n, 3n];
        const items = fees.map((fee) => scene.terms({ amount: 100n, fee, feeAccount }));
        const books = new Map<Address, bigint>();
        const add = (account: Address, units: bigint) => books.set(account, (books.get(account) ?? 0n) + units);
        const listed = new Set<Address>();
        for (const step of steps) {
          if (step.do === 'arrive') {
            const item = items[step.place] as DepositTerms;
            add(await scene.arrive(item, step.amount), step.amount);
          } else if (step.do === 'list') {
            const { recipient } = items[step.place] as DepositTerms;
            await chain.tell(USDC, 'blacklist', [recipient]);
            listed.add(recipient);
          } else {
            const chosen = step.places.map((place) => items[place] as DepositTerms);
            const bent = chosen.map((item, at) => (at === 0 ? bend(item, step.bend) : item));
            const { status, logs } = await scene.sweep({ items: bent });
            assert.equal(status, 'success');
            const expected = bent.flatMap((item) => expect(item));
            assert.deepEqual(
              logs.map(({ commitment, amount, fee }) => [commitment, amount, fee]),
              expected,
            );
          }
        }
        const accounts = [
          feeAccount,
          thief,
          DEPOSITS_ADDRESS,
          ...items.flatMap((item) => [item.recipient, depositAddress(item)]),
        ];
        for (const account of accounts) assert.equal(await chain.balanceOf(USDC, account), books.get(account) ?? 0n);

        function bend(item: DepositTerms, term: 'none' | 'recipient' | 'fee' | 'amount'): DepositTerms {
          if (term === 'none') return item;
          if (term === 'recipient') return { ...item, recipient: thief };
          return term === 'fee' ? { ...item, fee: 60n } : { ...item, amount: 100n + item.fee };
        }

        /** The outcome of one sweep, computed without a contract. */
        function expect(item: DepositTerms): [Hex, bigint, bigint][] {
          const deposit = depositAddress(item);
          const held = books.get(deposit) ?? 0n;
          const fee = (held * item.fee) / item.amount;
          if (held === 0n || (listed.has(item.recipient) && held > fee)) return [];
          books.set(deposit, 0n);
          add(feeAccount, fee);
          add(item.recipient, held - fee);
          return [[depositCommitment(item), held, fee]];
        }
      }),
      { seed: 20261116, numRuns: process.env.TILL_TEST_LONG === '1' ? 300 : 25 },
    );
  });
});
