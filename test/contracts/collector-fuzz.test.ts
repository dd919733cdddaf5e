import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import type { Address } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { COLLECTOR_ADDRESS, type ItemKind, type SignedItem } from '../../src/chains/evm/collector.ts';
import { type CollectorChain, createCollectorChain, DEADLINE, USDC } from './collector-chain.ts';

/** Faults of an item besides its numbers and its parties. */
const FLAWS = ['none', 'none', 'none', 'redirected', 'dearer', 'late', 'forged', 'repeated'] as const;

const itemArbitrary = fc.record({
  payer: fc.nat(5),
  recipient: fc.nat(9),
  amount: fc.oneof(fc.bigInt(0n, 400n), fc.bigInt(0n, 2n ** 128n - 1n)),
  feeShare: fc.nat(105),
  flaw: fc.constantFrom(...FLAWS),
});
const batchArbitrary = fc.record({
  kind: fc.constantFrom<ItemKind>('eip3009-vrs', 'eip3009-bytes', 'permit2'),
  items: fc.array(itemArbitrary, { minLength: 1, maxLength: 8 }),
});
type Wish = typeof itemArbitrary extends fc.Arbitrary<infer T> ? T : never;

describe('random batches of good and bad items', () => {
  let chain: CollectorChain;
  let payers: PrivateKeyAccount[];
  let parties: Address[];
  let feeAccount: Address;
  let listed: Address;

  before(async () => {
    chain = await createCollectorChain();
    payers = [];
    while (payers.length < 6) payers.push(await chain.payer('permit2', USDC));
    feeAccount = chain.someone().address;
    listed = chain.someone().address;
    // Anybody may be paid: payers too, the fee account, someone on the blacklist, and the Collector, which must not be.
    parties = [...payers.map(({ address }) => address), chain.someone().address, feeAccount, listed, COLLECTOR_ADDRESS];
    await chain.callToken(USDC, 'blacklist', [listed]);
    await chain.callToken(USDC, 'mint', [COLLECTOR_ADDRESS, 777n]);
  });
  after(() => chain.evm.close());

  const balances = async () =>
    new Map(await Promise.all(parties.map(async (party) => [party, await chain.balanceOf(USDC, party)] as const)));

  async function make(kind: ItemKind, wish: Wish, earlier: SignedItem | undefined): Promise<SignedItem> {
    if (wish.flaw === 'repeated' && earlier !== undefined) return earlier;
    const signer = payers[wish.payer] as PrivateKeyAccount;
    const item = await chain.item({
      kind,
      feeAccount,
      payer: signer.address,
      signer: wish.flaw === 'forged' ? chain.someone() : signer,
      recipient: parties[wish.recipient] as Address,
      amount: wish.amount,
      fee: (wish.amount * BigInt(wish.feeShare)) / 100n,
      deadline: wish.flaw === 'late' ? 1_000 : DEADLINE,
    });
    if (wish.flaw === 'redirected') return { ...item, recipient: chain.someone().address };
    return wish.flaw === 'dearer' ? { ...item, amount: item.amount + 1n } : item;
  }

  /** The expected outcome of an item, computed without a contract. A good item moves money in the books. */
  function expect(books: Map<Address, bigint>, item: SignedItem, isSound: boolean): boolean {
    const held = books.get(item.payer) ?? 0n;
    // A payment that is all fee moves nothing to its recipient.
    const isPayable = item.recipient !== COLLECTOR_ADDRESS && (item.fee === item.amount || item.recipient !== listed);
    if (!isSound || !isPayable || item.amount === 0n || item.fee > item.amount || item.amount > held) return false;
    books.set(item.payer, held - item.amount);
    books.set(item.recipient, (books.get(item.recipient) ?? 0n) + item.amount - item.fee);
    return true;
  }

  it('move exactly the signed amounts of the good items, and never make or lose a unit', async () => {
    const isUsed = new Set<SignedItem>();
    await fc.assert(
      fc.asyncProperty(batchArbitrary, async ({ kind, items: wishes }) => {
        const items: SignedItem[] = [];
        for (const wish of wishes) items.push(await make(kind, wish, items.at(-1)));
        const books = await balances();
        const expected = items.map((item, index) => {
          const flaw = wishes[index]?.flaw ?? 'none';
          const isFlawed = flaw !== 'none' && (flaw !== 'repeated' || index > 0);
          const isRepeated = items.indexOf(item) < index;
          const original = wishes[items.indexOf(item)]?.flaw;
          const isSound = isRepeated
            ? !isUsed.has(item) && (original === 'none' || original === 'repeated')
            : !isFlawed;
          const isCollected = expect(books, item, isSound);
          if (isCollected) isUsed.add(item);
          return isCollected;
        });
        const fees = items.reduce((sum, { fee }, index) => (expected[index] ? sum + fee : sum), 0n);
        books.set(feeAccount, (books.get(feeAccount) ?? 0n) + fees);

        const { receipt, logs } = await chain.collect({ kind, feeAccount, items });
        assert.equal(receipt.status, 'success');
        assert.deepEqual(
          logs.map(({ type }) => type === 'collected'),
          expected,
        );
        assert.deepEqual(await balances(), books);
      }),
      { seed: 20260301, numRuns: 60 },
    );
  });
});
