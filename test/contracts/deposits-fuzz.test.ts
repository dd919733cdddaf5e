import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { type Address, type Hex, keccak256, numberToHex } from 'viem';
import {
  DEPOSITS_ADDRESS,
  type DepositTerms,
  depositAddress,
  depositCommitment,
} from '../../src/chains/evm/deposits.ts';
import { sweptFee } from '../../src/domain/deposit.ts';
import { feeShare } from '../../src/domain/money/fee-share.ts';
import { IS_LONG } from '../long.ts';
import { type CollectorChain, createCollectorChain, USDC } from './collector-chain.ts';
import { type Authorized, createDepositScene, type DepositScene } from './deposit-scene.ts';

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
  fc.record({
    do: fc.constant('authorize' as const),
    kind: fc.constantFrom('deposit-vrs' as const, 'deposit-bytes' as const),
    places: fc.array(fc.nat(7), { minLength: 1, maxLength: 5 }),
    /** The fate of the first one: a stranger bends a term, somebody else has signed it, or it is presented before or twice. */
    first: fc.constantFrom('good', 'good', 'recipient', 'fee', 'amount', 'unsigned', 'presented', 'twice'),
  }),
  fc.record({ do: fc.constant('list' as const), place: fc.nat(7) }),
);

/** The share of the fee, and no more than the asked fee. */
const feeOf = ({ amount, fee }: DepositTerms, held: bigint) => feeShare({ fee, of: amount }, 0n, held);

type Bend = 'recipient' | 'fee' | 'amount';

const FUNDS = 1_000_000_000n;
const signed = (item: Authorized) => ({ item, isSigned: true });

describe('random transfers, authorizations and sweeps of strangers', () => {
  let chain: CollectorChain;
  let scene: DepositScene;
  before(async () => {
    chain = await createCollectorChain();
    scene = createDepositScene(chain);
  });
  after(() => chain.evm.close());

  it('are swept in parts at the fee of the parts: together at most the fee of one sweep, and less than a unit less for each part', async () => {
    const terms = fc.record({ amount: fc.bigInt(1n, 10n ** 12n), perMille: fc.bigInt(0n, 1_000n) });
    const cuts = fc.array(fc.nat(1_000), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(terms, cuts, async ({ amount, perMille }, at) => {
        const fee = (amount * perMille) / 1_000n;
        const item = scene.terms({ amount, fee, feeAccount: chain.someone().address });
        const ends = [...at.map((cut) => (amount * BigInt(cut)) / 1_000n), amount].toSorted((a, b) => (a < b ? -1 : 1));
        const parts = ends.map((end, index) => end - (ends[index - 1] ?? 0n)).filter((part) => part > 0n);
        const taken: bigint[] = [];
        for (const part of parts) {
          await scene.arrive(item, part);
          const { logs } = await scene.sweep({ items: [item] });
          assert.deepEqual(
            logs.map((log) => [log.amount, log.fee]),
            [[part, sweptFee({ asset: 'usd', amount, fee, seal: '' }, { asset: 'usd', amount: part })]],
          );
          taken.push(logs[0]?.fee ?? 0n);
        }
        const sum = taken.reduce((total, each) => total + each, 0n);
        assert.ok(sum <= fee && fee - sum < BigInt(parts.length), `${sum} of ${fee} in ${parts.length} parts`);
      }),
      { numRuns: IS_LONG ? 200 : 10 },
    );
  });

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
        const [payer, other] = [await chain.payer('eip3009-vrs', USDC), chain.someone()];
        add(payer.address, FUNDS);
        const usedNonces = new Set<Hex>();
        let nonces = 0;
        for (const step of steps) {
          if (step.do === 'arrive') {
            const item = items[step.place] as DepositTerms;
            add(await scene.arrive(item, step.amount), step.amount);
          } else if (step.do === 'list') {
            const { recipient } = items[step.place] as DepositTerms;
            await chain.callToken(USDC, 'blacklist', [recipient]);
            listed.add(recipient);
          } else if (step.do === 'authorize') {
            const [first, ...rest] = await Promise.all(step.places.map((place) => authorize(place)));
            const batch = [...(await spoil(first as Authorized, step.first)), ...rest.map(signed)];
            const { status, logs } = await scene.sweepAuthorized(
              batch.map(({ item }) => item),
              step.kind,
            );
            assert.equal(status, 'success');
            const expected = batch.flatMap(expectPulled);
            assert.deepEqual(
              logs.map(({ commitment, amount, fee }) => [commitment, amount, fee]),
              expected,
            );
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
          payer.address,
          DEPOSITS_ADDRESS,
          ...items.flatMap((item) => [item.recipient, depositAddress(item)]),
        ];
        for (const account of accounts) assert.equal(await chain.balanceOf(USDC, account), books.get(account) ?? 0n);

        function authorize(place: number, signer = payer): Promise<Authorized> {
          nonces += 1;
          const nonce = keccak256(numberToHex(nonces));
          return scene.authorize(items[place] as DepositTerms, { payer: signer, nonce });
        }

        /** The authorization as it comes to the contract, perhaps twice. */
        async function spoil(item: Authorized, fate: 'good' | 'unsigned' | 'presented' | 'twice' | Bend) {
          if (fate === 'good') return [signed(item)];
          if (fate === 'twice') return [signed(item), signed(item)];
          if (fate === 'unsigned') {
            const { signature } = await authorize(0, other);
            return [{ item: { ...item, signature }, isSigned: false }];
          }
          if (fate === 'presented') {
            assert.equal(await scene.present(item), 'success');
            pull(item);
            return [signed(item)];
          }
          // The signature names the deposit address, and so all of its terms.
          const bent = { ...item, ...bend(item, fate) };
          return [{ item: bent, isSigned: depositAddress(bent) === depositAddress(item) }];
        }

        function pull(item: Authorized): void {
          add(item.payer, -item.amount);
          add(depositAddress(item), item.amount);
          usedNonces.add(item.nonce);
        }

        /** The outcome of one authorization. If its sweep fails, the payer keeps the money. */
        function expectPulled({ item, isSigned }: { item: Authorized; isSigned: boolean }) {
          const isPulled = isSigned && !usedNonces.has(item.nonce);
          const held = (books.get(depositAddress(item)) ?? 0n) + (isPulled ? item.amount : 0n);
          const isRefused = listed.has(item.recipient) && held > feeOf(item, held);
          // An authorization that fails is no fault if the address holds the asked amount.
          if (held < item.amount || isRefused) return [];
          if (isPulled) pull(item);
          return expect(item);
        }

        function bend(item: DepositTerms, term: 'none' | Bend): DepositTerms {
          if (term === 'none') return item;
          if (term === 'recipient') return { ...item, recipient: thief };
          return term === 'fee' ? { ...item, fee: 60n } : { ...item, amount: 100n + item.fee };
        }

        /** The outcome of one sweep, computed without a contract. */
        function expect(item: DepositTerms): [Hex, bigint, bigint][] {
          const deposit = depositAddress(item);
          const held = books.get(deposit) ?? 0n;
          const fee = feeOf(item, held);
          if (held === 0n || (listed.has(item.recipient) && held > fee)) return [];
          books.set(deposit, 0n);
          add(feeAccount, fee);
          add(item.recipient, held - fee);
          return [[depositCommitment(item), held, fee]];
        }
      }),
      { seed: 20261116, numRuns: IS_LONG ? 300 : 25 },
    );
  });
});
