import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { type Address, concat, encodeFunctionData, type Hex, keccak256, numberToHex, pad, slice } from 'viem';
import awkwardToken from '../../contracts/artifacts/AwkwardToken.json' with { type: 'json' };
import caller from '../../contracts/artifacts/Caller.json' with { type: 'json' };
import { COLLECTOR_ADDRESS, encodeBatch, type SignedItem } from '../../src/chains/evm/collector.ts';
import { DEPOSITS_ADDRESS, type DepositTerms, depositAddress, encodeSweep } from '../../src/chains/evm/deposits.ts';
import { feeShare } from '../../src/domain/money/fee-share.ts';
import { IS_LONG } from '../long.ts';
import { QUIRKS, type Quirk } from './awkward-token.ts';
import { type CollectorChain, collectorLogs, createCollectorChain, DEADLINE } from './collector-chain.ts';
import { createDepositScene } from './deposit-scene.ts';
import { ANY_SIGNATURE } from './hostile-token.ts';

const ITEMS_PER_BATCH = 8;
/** Each item is a call of `carryOut`: 100,000 of them in the long run, half of them to each contract. */
const RUNS = (IS_LONG ? 50_000 : 400) / ITEMS_PER_BATCH;
/** Balances are compared from time to time, because each costs a call. */
const COMPARE_EVERY = 25;
const OPTIONS = { seed: 20261118, numRuns: RUNS, endOnFailure: true } as const;

/** Half of the accounts are honest. */
const accountArbitrary = fc.oneof(fc.constant(0), fc.nat(QUIRKS.length - 1));
const amountArbitrary = fc.oneof(fc.bigInt(0n, 400n), fc.bigInt(0n, 2n ** 120n));
const batchOf = <T>(item: fc.Arbitrary<T>) =>
  fc.array(item, { minLength: ITEMS_PER_BATCH, maxLength: ITEMS_PER_BATCH });

let chain: CollectorChain;
let token: Address;
/** The balances as they should be. */
let books: Map<Address, bigint>;
before(async () => {
  chain = await createCollectorChain();
  token = await chain.deploy(awkwardToken);
  books = new Map();
});
after(() => chain.evm.close());

const add = (account: Address, units: bigint) => books.set(account, (books.get(account) ?? 0n) + units);
const callToken = (functionName: string, args: readonly unknown[]) =>
  chain.send({ to: token, data: encodeFunctionData({ abi: awkwardToken.abi, functionName, args } as never) });

/** An account for each quirk. The first one has none. */
async function accounts(): Promise<Address[]> {
  const made = QUIRKS.map(() => chain.someone().address);
  for (const [quirk, account] of made.entries()) await callToken('setQuirk', [account, quirk]);
  return made;
}

async function compare(): Promise<void> {
  for (const [account, units] of books) assert.equal(await chain.balanceOf(token, account), units, account);
}

/** A transfer of the token to an account with this quirk, without a contract of ours. */
function transferTo(quirk: Quirk, value: bigint, held: bigint) {
  const charged = quirk === 'ChargesSender' ? value + value / 100n : value;
  const arrives = quirk === 'TakesFee' ? value - value / 100n : value;
  const fails: readonly Quirk[] = ['AnswersFalse', 'Reverts', 'RevertsWithMegabyte', 'BurnsGas', 'Reenters'];
  if (quirk === 'MovesNothing') return { isDone: true, charged: 0n, arrives: 0n };
  if (fails.includes(quirk) || charged > held) return { isDone: false, charged: 0n, arrives: 0n };
  return { isDone: quirk !== 'AnswersTwo', charged, arrives };
}

describe('random items of a hostile token, through the Collector', () => {
  const itemArbitrary = fc.record({
    payer: accountArbitrary,
    recipient: accountArbitrary,
    amount: amountArbitrary,
    feeShare: fc.nat(104),
  });
  const PULLED: readonly Quirk[] = [
    ...(['None', 'TakesFee', 'ChargesSender', 'MovesNothing'] as const),
    ...(['AnswersFalse', 'AnswersNothing', 'AnswersTwo'] as const),
  ];
  let [payers, recipients]: [Address[], Address[]] = [[], []];
  let feeAccount: Address;

  before(async () => {
    [payers, recipients, feeAccount] = [await accounts(), await accounts(), chain.someone().address];
    for (const payer of payers) {
      await callToken('mint', [payer, 2n ** 200n]);
      add(payer, 2n ** 200n);
    }
    await callToken('mint', [COLLECTOR_ADDRESS, 777n]);
    add(COLLECTOR_ADDRESS, 777n);
    const inner = { ...(await chain.item({ payer: payers[0] as Address, signature: ANY_SIGNATURE })) };
    await callToken('setReentry', [encodeBatch({ kind: 'eip3009-vrs', token, feeAccount, items: [inner] })]);
  });

  /** The outcome of an item, computed without a contract. */
  function expect(item: SignedItem): boolean {
    const { payer, recipient, amount, fee } = item;
    const pull = QUIRKS[payers.indexOf(payer)] as Quirk;
    const payout = QUIRKS[recipients.indexOf(recipient)] as Quirk;
    if (amount === 0n || fee > amount || !PULLED.includes(pull)) return false;
    const isMoved = pull !== 'MovesNothing';
    const arrived = isMoved ? amount - (pull === 'TakesFee' ? amount / 100n : 0n) : 0n;
    const net = amount - fee;
    const paid = net > 0n ? transferTo(payout, net, arrived) : { isDone: true, charged: 0n, arrives: 0n };
    // A token that pretends both transfers is not found out, if there is no fee. It could lie about balances as well.
    if (!paid.isDone || arrived - paid.charged !== fee) return false;
    if (isMoved) add(payer, pull === 'ChargesSender' ? -amount - amount / 100n : -amount);
    add(recipient, paid.arrives);
    add(feeAccount, fee);
    return true;
  }

  it('are paid exactly, or refused alone; every event has the words of its commitment', async () => {
    let count = 0;
    const place = concat([numberToHex(31337, { size: 32 }), pad(COLLECTOR_ADDRESS)]);
    const batches = fc.record({
      kind: fc.constantFrom('eip3009-vrs' as const, 'eip3009-bytes' as const),
      wishes: batchOf(itemArbitrary),
    });
    const property = fc.asyncProperty(batches, async ({ kind, wishes }) => {
      const items = wishes.map(({ payer, recipient, amount, feeShare }): SignedItem => {
        const parties = { payer: payers[payer] as Address, recipient: recipients[recipient] as Address };
        const fee = (amount * BigInt(feeShare)) / 100n;
        return { ...parties, amount, fee, subject: chain.newSubject(), deadline: DEADLINE, signature: ANY_SIGNATURE };
      });
      const data = encodeBatch({ kind, token, feeAccount, items, allowance: 160_000 });
      const receipt = await chain.send({ to: COLLECTOR_ADDRESS, data, gas: 3_000_000 });
      const logs = receipt.logs.filter(({ address }) => address === COLLECTOR_ADDRESS.toLowerCase());
      const logged = collectorLogs(receipt);
      assert.deepEqual(
        logged.map(({ type }) => type === 'collected'),
        items.map(expect),
      );
      for (const [at, log] of logged.entries()) {
        const raw = logs[at] as (typeof logs)[number];
        if (log.type === 'refused') continue;
        assert.equal(raw.topics[1], keccak256(concat([place, raw.data])));
        const { payer, recipient, amount, fee, subject } = items[at] as SignedItem;
        const words = {
          payer: log.payer,
          recipient: log.recipient,
          amount: log.amount,
          fee: log.fee,
          subject: log.subject,
        };
        assert.deepEqual(words, { payer, recipient, amount, fee, subject });
      }
      count += 1;
      if (count % COMPARE_EVERY === 0) await compare();
    });
    await fc.assert(property, OPTIONS);
    await compare();
  });
});

describe('random deposits of a hostile token, with fee accounts of all kinds', () => {
  /** A deposit address with its state as it should be. */
  interface Place {
    readonly terms: DepositTerms;
    readonly deposit: Address;
    readonly payout: Quirk;
    owed: bigint;
  }
  const PLACES = 44;
  /** The fee accounts: their quirks change with time. */
  const FEE_QUIRKS: readonly Quirk[] = [
    'None',
    'Reverts',
    'AnswersFalse',
    'ChargesSender',
    'TakesFee',
    'Reenters',
    'BurnsGas',
    'AnswersTwo',
    'MovesNothing',
  ];
  const quirkOfFee = new Map<Address, Quirk>();
  let places: Place[][] = [];
  let many: Address;

  before(async () => {
    many = await chain.deploy(caller);
    const scene = createDepositScene(chain);
    const recipients = await accounts();
    const fees = [0n, 1n, 7n, 33n, 50n, 99n, 100n, 3n];
    places = [];
    for (let group = 0; group < 3; group += 1) {
      const feeAccount = chain.someone().address;
      quirkOfFee.set(feeAccount, 'None');
      places.push(
        Array.from({ length: PLACES }, (_, at): Place => {
          // Three of four recipients are honest.
          const quirk = at % 4 === 0 ? (at / 4) % QUIRKS.length : 0;
          const recipient = quirk === 0 ? chain.someone().address : (recipients[quirk] as Address);
          const fee = fees[at % fees.length] as bigint;
          const terms = scene.terms({ token, feeAccount, recipient, amount: 100n, fee });
          return { terms, deposit: depositAddress(terms), payout: QUIRKS[quirk] as Quirk, owed: 0n };
        }),
      );
    }
    const [[first]] = places as [[Place]];
    await callToken('setReentry', [encodeSweep({ token, items: [first.terms] })]);
  });

  const feeOf = ({ amount, fee }: DepositTerms, units: bigint) => feeShare({ fee, of: amount }, 0n, units);

  /** The amounts in the event of a sweep, computed without a contract. */
  function expect(place: Place): [Address, bigint, bigint][] {
    const { terms, deposit, payout } = place;
    const held = books.get(deposit) ?? 0n;
    const fee = place.owed + feeOf(terms, held - place.owed);
    const net = held - fee;
    const quirk = quirkOfFee.get(terms.feeAccount) as Quirk;
    const none = { isDone: true, charged: 0n, arrives: 0n };
    const netPaid = net > 0n ? transferTo(payout, net, held) : none;
    const feePaid = fee > 0n ? transferTo(quirk, fee, held - netPaid.charged) : none;
    const unpaid = feePaid.isDone ? 0n : fee;
    const isStuck = !netPaid.isDone || (!feePaid.isDone && (net === 0n || quirk === 'BurnsGas'));
    if (held === 0n || isStuck || held - netPaid.charged - feePaid.charged !== unpaid) return [];
    place.owed = unpaid;
    add(deposit, -netPaid.charged - feePaid.charged);
    add(terms.recipient, netPaid.arrives);
    add(terms.feeAccount, feePaid.arrives);
    return [[terms.recipient, held - unpaid, fee - unpaid]];
  }

  it('reach their recipients, and a fee is paid or owed; every event has the words of its commitment', async () => {
    let count = 0;
    const stepArbitrary = fc.record({
      group: fc.nat(2),
      arrivals: fc.array(fc.record({ at: fc.nat(PLACES - 1), amount: amountArbitrary }), {
        minLength: 4,
        maxLength: 8,
      }),
      swept: batchOf(fc.nat(PLACES - 1)),
      feeQuirk: fc.option(fc.constantFrom(...FEE_QUIRKS), { freq: 3 }),
    });
    const property = fc.asyncProperty(stepArbitrary, async ({ group, arrivals, swept, feeQuirk }) => {
      const chosen = places[group] as Place[];
      const { feeAccount } = (chosen[0] as Place).terms;
      if (feeQuirk !== null) {
        await callToken('setQuirk', [feeAccount, QUIRKS.indexOf(feeQuirk)]);
        quirkOfFee.set(feeAccount, feeQuirk);
      }
      await arrive(arrivals.map(({ at, amount }) => ({ to: (chosen[at] as Place).deposit, amount })));
      // The addresses that got money are swept first, so that there is always something to do.
      const order = [...arrivals.slice(0, 4).map(({ at }) => at), ...swept.slice(4)].map((at) => chosen[at] as Place);
      const expected = order.flatMap(expect);
      const data = encodeSweep({ token, items: order.map(({ terms }) => terms) });
      const receipt = await chain.send({ to: DEPOSITS_ADDRESS, data, gas: 3_000_000 });
      assert.equal(receipt.status, 'success');
      const logs = receipt.logs.filter(({ address }) => address === DEPOSITS_ADDRESS.toLowerCase());
      assert.deepEqual(
        logs.map((log) => [wordAt(log.data, 3), BigInt(wordAt(log.data, 7)), BigInt(wordAt(log.data, 8))]),
        expected.map(([recipient, amount, fee]) => [pad(recipient).toLowerCase(), amount, fee]),
      );
      for (const log of logs) assert.equal(log.topics[1], keccak256(slice(log.data, 0, 192)));
      count += 1;
      if (count % COMPARE_EVERY === 0) await compare();
    });
    await fc.assert(property, OPTIONS);
    await compare();
  });

  const wordAt = (data: Hex, at: number) => slice(data, 32 * at, 32 * at + 32);

  async function arrive(arrivals: readonly { readonly to: Address; readonly amount: bigint }[]): Promise<void> {
    const { abi } = awkwardToken;
    const calls = arrivals.map(({ to, amount }) => {
      add(to, amount);
      return { to: token, value: 0n, data: encodeFunctionData({ abi, functionName: 'mint', args: [to, amount] }) };
    });
    await chain.send({ to: many, data: encodeFunctionData({ abi: caller.abi, functionName: 'run', args: [calls] }) });
  }
});
