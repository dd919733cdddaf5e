import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { placeOf, readMined } from '../../../test/money/read-mined.ts';
import type { Collected, Mined, Movement, Swept } from './movement.ts';
import { type Known, knownKey, type Owner, ownerOf, unownedUnits } from './owner.ts';

const NETWORK = 'eip155:1';
const ASSET = `${NETWORK}/erc20:a`;
const OTHER_ASSET = `${NETWORK}/erc20:b`;
const KNOWN: Known = {
  items: new Set(['I', 'J', 'P', 'R'].map((commitment) => knownKey(NETWORK, commitment))),
  orders: new Set([knownKey(NETWORK, 'R')]),
  deposits: new Map([
    ['deposit', 'D'],
    ['second', 'E'],
  ]),
  accounts: new Map([
    ['held', 'intermediate'],
    ['older', 'intermediate'],
    ['relayer', 'relayer'],
  ]),
};

type Log = readonly [from: string, to: string, amount: bigint, asset?: string] | Collected | Swept;
const at = { network: NETWORK, blockTimeS: 1, block: 1, transaction: '0x1', asset: ASSET };

function collected(commitment: string, terms: Partial<Collected> = {}): Collected {
  const [collector, kind] = ['collector', 'key'] as const;
  const money = { amount: 100n, fee: 7n, recipient: 'held', feeAccount: 'fees', payer: 'payer', deadlineS: 9 };
  return { event: 'collected', ...at, index: 0, collector, kind, commitment, subject: 'copied', ...money, ...terms };
}

function swept(terms: Partial<Swept> = {}): Swept {
  const asked = { askedToken: 'a', askedAmount: 100n, askedFee: 7n, subject: '' };
  const money = { amount: 100n, fee: 7n, recipient: 'held', feeAccount: 'fees' };
  return { event: 'swept', ...at, index: 0, address: 'deposit', commitment: 'D', ...asked, ...money, ...terms };
}

/** One transaction with these logs, in this order. */
function mined(...logs: readonly Log[]): Mined {
  const legs: Movement[] = [];
  const events: (Collected | Swept)[] = [];
  logs.forEach((log, index) => {
    if ('event' in log) events.push({ ...log, index });
    else {
      const [from, to, amount, asset = ASSET] = log;
      const places = { fromPlace: placeOf(KNOWN, from), toPlace: placeOf(KNOWN, to) };
      legs.push({ ...at, index, from, to, amount, asset, ...places });
    }
  });
  return { legs, events };
}

const nameOf = (owner: Owner) => ('commitment' in owner ? `${owner.is} ${owner.commitment}` : owner.is);

it('units without an owner are those that came in, without the units of others', () => {
  const part = (owner: Owner, amount: bigint) => ({ owner, amount, isFee: false });
  const to = [part({ is: 'nobody' }, 2n), part({ is: 'own' }, 7n), part({ is: 'nobody' }, 3n)];
  assert.equal(unownedUnits({ from: [part({ is: 'nobody' }, 40n)], to }), 5n);
});

/** The owners at both ends of each leg that touches a place of ours. */
function owners(...logs: readonly Log[]): string[] {
  const transaction = mined(...logs);
  return transaction.legs.flatMap((leg) => {
    const { from, to } = ownerOf(leg, transaction, KNOWN);
    const textOf = (parts: typeof from) => parts.map((part) => `${nameOf(part.owner)} ${part.amount}`).join(' + ');
    return from.length + to.length === 0 ? [] : [`${textOf(from)} → ${textOf(to)}`];
  });
}

describe('the owner of a movement', () => {
  const cases: readonly (readonly [name: string, logs: readonly Log[], expected: readonly string[]])[] = [
    ['a transfer to a deposit address', [['payer', 'deposit', 5n]], [' → deposit D 5']],
    ['a transfer to our account', [['payer', 'held', 5n]], [' → nobody 5']],
    ['a transfer of a place to itself', [['held', 'held', 5n]], []],
    ['a transfer of nothing', [['payer', 'deposit', 0n]], []],
    ['a transfer to a newer account of ours', [['older', 'held', 5n]], ['own 5 → own 5']],
    ['coin for a relayer', [['held', 'relayer', 5n]], ['own 5 → own 5']],
    ['a withdrawal by hand', [['held', 'safe', 5n]], ['nobody 5 → ']],
    ['our account pays into a deposit address', [['held', 'deposit', 5n]], ['nobody 5 → deposit D 5']],
    ['a token takes money from a deposit address', [['deposit', 'burnt', 5n]], ['nobody 5 → ']],
    [
      'a sweep',
      [['deposit', 'fees', 7n], ['deposit', 'held', 93n], swept()],
      ['deposit D 7 → ', 'deposit D 93 → deposit D 93'],
    ],
    [
      'a sweep into another deposit address, whose arrival it is',
      [['deposit', 'fees', 7n], ['deposit', 'second', 93n], swept({ recipient: 'second' })],
      ['deposit D 7 → ', 'deposit D 93 → deposit E 93'],
    ],
    [
      'an item that is held',
      [['payer', 'collector', 100n], ['collector', 'held', 93n], collected('I'), ['collector', 'fees', 7n]],
      [' → item I 93'],
    ],
    [
      'an order whose recipient is an account of ours: the money has left the books, and comes in again',
      [
        ['held', 'collector', 100n],
        ['collector', 'older', 100n],
        collected('R', { payer: 'held', recipient: 'older', fee: 0n }),
      ],
      ['item R 100 → ', ' → nobody 100'],
    ],
    [
      'such an order by Permit2',
      [['held', 'older', 100n], collected('R', { payer: 'held', recipient: 'older', fee: 0n })],
      ['item R 100 → nobody 100'],
    ],
    [
      "a stranger's item with a copied subject",
      [['payer', 'collector', 100n], ['collector', 'held', 93n], collected('X'), ['collector', 'fees', 7n]],
      [' → nobody 93'],
    ],
    [
      "a stranger's item that looks like ours, in the same transaction",
      [['collector', 'held', 93n], collected('X'), ['collector', 'held', 93n], collected('I')],
      [' → nobody 93', ' → item I 93'],
    ],
    [
      'the fees of a batch, which its items explain',
      [
        ['collector', 'held', 93n],
        collected('I', { feeAccount: 'held' }),
        ['collector', 'merchant', 47n],
        collected('X', { recipient: 'merchant', amount: 50n, fee: 3n, feeAccount: 'held' }),
        ['collector', 'held', 10n],
      ],
      [' → item I 93', ' → item I 7 + nobody 3'],
    ],
    [
      'fees of two batches in one transaction',
      [
        ['collector', 'held', 93n],
        collected('I', { feeAccount: 'held' }),
        ['collector', 'held', 7n],
        ['collector', 'held', 7n],
        collected('J', { amount: 14n, feeAccount: 'held' }),
        ['collector', 'held', 7n],
      ],
      [' → item I 93', ' → item I 7', ' → item J 7', ' → item J 7'],
    ],
    [
      'the fees of three batches in one transaction',
      ['I', 'J', 'P'].flatMap((commitment): Log[] => [
        ['collector', 'held', 93n],
        collected(commitment, { feeAccount: 'held' }),
        ['collector', 'held', 7n],
      ]),
      ['I', 'J', 'P'].flatMap((commitment) => [` → item ${commitment} 93`, ` → item ${commitment} 7`]),
    ],
    [
      'the fees of items for one account of ours, also of one unit and of none',
      [
        ['collector', 'held', 93n],
        collected('I', { feeAccount: 'held' }),
        ['collector', 'held', 49n],
        collected('J', { amount: 50n, fee: 1n, feeAccount: 'held' }),
        ['collector', 'held', 20n],
        collected('P', { amount: 20n, fee: 0n, feeAccount: 'held' }),
        ['collector', 'held', 8n],
      ],
      [' → item I 93', ' → item J 49', ' → item P 20', ' → item I 7 + item J 1'],
    ],
    [
      'the fee of an item for a merchant, whose event is the first log',
      [collected('I', { recipient: 'merchant', feeAccount: 'held' }), ['collector', 'held', 7n]],
      [' → item I 7'],
    ],
    [
      'a transfer by the Collector that is less than the fees',
      [collected('I', { recipient: 'merchant', feeAccount: 'held' }), ['collector', 'held', 5n]],
      [' → nobody 5'],
    ],
    [
      'the fees of our item and of an item that a stranger has added to the batch',
      [collected('I', { recipient: 'merchant', feeAccount: 'held' }), ['collector', 'held', 9n]],
      [' → item I 7 + nobody 2'],
    ],
    [
      'an item that takes its money straight from the payer, beside other transfers of the same amount',
      [
        ['stranger', 'held', 50n],
        ['stranger', 'older', 50n],
        ['payer', 'held', 50n],
        ['collector', 'held', 93n],
        collected('I'),
        collected('J', { amount: 50n, fee: 0n }),
      ],
      [' → nobody 50', ' → nobody 50', ' → item J 50', ' → item I 93'],
    ],
    [
      'a gift of the payer to our account, while its item is carried out',
      [['payer', 'collector', 100n], ['payer', 'held', 5n], ['collector', 'held', 93n], collected('I')],
      [' → nobody 5', ' → item I 93'],
    ],
    [
      "a stranger's transfer of the amount of an item",
      [['stranger', 'held', 100n], ['collector', 'held', 93n], collected('I')],
      [' → nobody 100', ' → item I 93'],
    ],
    [
      'a transfer in another token, between an item and its event',
      [['collector', 'held', 93n], ['collector', 'held', 93n, OTHER_ASSET], collected('I')],
      [' → item I 93', ' → nobody 93'],
    ],
    [
      'a leg of the Collector whose next event is another item',
      [['collector', 'held', 93n], collected('X', { amount: 50n }), collected('I')],
      [' → nobody 93'],
    ],
    [
      'a leg to the Collector whose next event is another item',
      [['held', 'collector', 50n], collected('X'), collected('P', { payer: 'held', amount: 50n })],
      ['nobody 50 → '],
    ],
    [
      'sweeps of two addresses whose events come in another order',
      [
        ['deposit', 'held', 93n],
        ['second', 'held', 47n],
        swept({ address: 'second', commitment: 'E', amount: 47n, fee: 0n }),
        swept({ amount: 93n, fee: 0n }),
      ],
      ['deposit D 93 → deposit D 93', 'deposit E 47 → deposit E 47'],
    ],
    [
      'a transfer by the Collector that no item explains',
      [['collector', 'held', 93n], collected('I', { amount: 50n })],
      [' → nobody 93'],
    ],
    [
      'an order of ours',
      [
        ['held', 'collector', 50n],
        ['collector', 'merchant', 50n],
        collected('P', { payer: 'held', recipient: 'merchant', amount: 50n, fee: 0n }),
      ],
      ['item P 50 → '],
    ],
    [
      'an order of ours into a deposit address, whose arrival it is',
      [
        ['held', 'collector', 50n],
        ['collector', 'deposit', 50n],
        collected('P', { payer: 'held', recipient: 'deposit', amount: 50n, fee: 0n }),
      ],
      ['item P 50 → ', ' → deposit D 50'],
    ],
  ];
  for (const [name, logs, expected] of cases) {
    it(`is known for ${name}`, () => assert.deepEqual(owners(...logs), expected));
  }
});

describe('a transaction', () => {
  const read = (...logs: readonly Log[]) => readMined(mined(...logs), KNOWN, () => false);

  it('sums a sweep up from its legs, and not from what the event says', () => {
    const { facts } = read(['deposit', 'fees', 6n], ['deposit', 'held', 93n], swept({ amount: 1_000n }));
    assert.deepEqual(
      facts.map((fact) => [fact.is, fact.amount, fact.is === 'swept' && fact.fee]),
      [['swept', 99n, 6n]],
    );
  });

  it('distinguishes the fee from the net amount if both go to one account', () => {
    const legs: Log[] = [
      ['deposit', 'held', 7n],
      ['deposit', 'held', 93n],
    ];
    const { facts, fees } = read(...legs, swept({ feeAccount: 'held' }));
    assert.deepEqual(
      facts.map((fact) => fact.is === 'swept' && [fact.amount, fact.fee]),
      [[100n, 7n]],
    );
    assert.deepEqual(
      fees.map(({ amount }) => amount),
      [7n],
    );
  });

  it('proves no item for our account by an event without its leg', () => {
    assert.deepEqual(read(collected('I')).facts, []);
    assert.equal(read(collected('I', { recipient: 'merchant' })).facts.length, 1);
    assert.deepEqual(read(collected('X', { recipient: 'merchant' })).facts, [], 'nor the item of a stranger');
    assert.deepEqual(read(collected('P', { payer: 'held', recipient: 'merchant' })).facts, [], 'nor an order of ours');
    assert.deepEqual(read(swept()).facts, [], 'nor a sweep');
  });

  it('has each movement in one of its lists', () => {
    const whole = (...logs: readonly Log[]) => {
      const { facts, sent, unowned, fees, own } = read(...logs);
      const brief = (each: { account: string; amount: bigint }) => `${each.account} ${each.amount}`;
      return {
        facts: facts.map((fact) => `${fact.is} ${fact.commitment} ${fact.amount}`),
        sent: sent.map((each) => `${each.is} ${each.commitment} ${brief(each)}`),
        ...{ unowned: unowned.map(brief), fees: fees.map(brief), own: own.map(brief) },
      };
    };
    const none = { facts: [], sent: [], unowned: [], fees: [], own: [] };
    assert.deepEqual(whole(['older', 'held', 5n]), { ...none, own: ['older -5', 'held 5'] });
    assert.deepEqual(whole(['held', 'safe', 5n]), { ...none, unowned: ['held -5'] });
    assert.deepEqual(whole(['payer', 'held', 1n]), { ...none, unowned: ['held 1'] });
    assert.deepEqual(whole(['payer', 'deposit', 5n]), { ...none, facts: ['arrived D 5'] });
    const order = collected('P', { payer: 'held', recipient: 'merchant', amount: 50n, fee: 0n });
    assert.deepEqual(whole(['held', 'collector', 50n], order), { ...none, sent: ['sent P held 50'] });
    const item: Log[] = [['collector', 'held', 93n], collected('I', { feeAccount: 'held' }), ['collector', 'held', 7n]];
    assert.deepEqual(whole(...item), { ...none, facts: ['collected I 100'], fees: ['held 7'] });
    const added: Log[] = [collected('I', { recipient: 'merchant', feeAccount: 'held' }), ['collector', 'held', 9n]];
    assert.deepEqual(whole(...added), { ...none, facts: ['collected I 100'], fees: ['held 7'], unowned: ['held 2'] });
    // A token that burns a part of every transfer.
    const burnt: Log[] = [['deposit', 'burnt', 5n], ['deposit', 'held', 93n], swept({ amount: 93n, fee: 0n })];
    assert.deepEqual(whole(...burnt), { ...none, facts: ['swept D 93'], unowned: ['deposit -5'] });
  });

  it('distinguishes sweeps of one address, by their order and by their token', () => {
    const twice = read(
      ...[['deposit', 'fees', 7n] as const, ['deposit', 'held', 93n] as const, swept()],
      ...[['deposit', 'fees', 3n] as const, ['deposit', 'held', 47n] as const, swept({ amount: 50n, fee: 3n })],
    );
    const brief = (facts: typeof twice.facts) =>
      facts.map((fact) => fact.is === 'swept' && [fact.asset, fact.amount, fact.fee]);
    assert.deepEqual(brief(twice.facts), [
      [ASSET, 100n, 7n],
      [ASSET, 50n, 3n],
    ]);
    const tokens = read(
      ...[['deposit', 'held', 93n] as const, ['deposit', 'held', 50n, OTHER_ASSET] as const],
      ...[swept({ asset: OTHER_ASSET, amount: 50n, fee: 0n }), swept({ amount: 93n, fee: 0n })],
    );
    assert.deepEqual(brief(tokens.facts), [
      [OTHER_ASSET, 50n, 0n],
      [ASSET, 93n, 0n],
    ]);
  });

  it('names the payer of the item as the sender of each transfer by the Collector', () => {
    const { facts } = read(
      ...[
        ['collector', 'deposit', 50n] as const,
        collected('X', { payer: 'one', recipient: 'deposit', amount: 50n, fee: 0n }),
      ],
      ...[
        ['collector', 'deposit', 30n] as const,
        collected('Y', { payer: 'two', recipient: 'deposit', amount: 30n, fee: 0n }),
      ],
    );
    assert.deepEqual(
      facts.map((fact) => fact.is === 'arrived' && fact.sender),
      ['one', 'two'],
    );
  });

  it('knows the fee by its account, and by its place before the net amount if there is one account for both', () => {
    const feeOf = (...logs: readonly Log[]) => read(...logs).facts.map((fact) => fact.is === 'swept' && fact.fee);
    assert.deepEqual(feeOf(['deposit', 'held', 93n], ['deposit', 'fees', 7n], swept()), [7n]);
    const one = swept({ feeAccount: 'held' });
    const both: Log[] = [
      ['deposit', 'held', 7n],
      ['deposit', 'held', 93n],
    ];
    assert.deepEqual(feeOf(...both, one, ['payer', 'held', 5n]), [7n]);
    assert.deepEqual(feeOf(...both, ['payer', 'held', 5n], one), [7n]);
    assert.deepEqual(feeOf(...both, one, ...both, one), [7n, 7n]);
  });

  it('gives an id to money that nobody owns, which is the same in another block', () => {
    const ids = (index: number) => {
      const transaction = mined(['payer', 'held', 5n], ['payer', 'held', 5n]);
      const legs = transaction.legs.map((leg) => ({ ...leg, block: index, index: leg.index + index }));
      return readMined({ ...transaction, legs }, KNOWN, () => false).unowned.map(({ id }) => id);
    };
    assert.deepEqual(ids(0), ids(40));
    const place = `${NETWORK}/0x1/held/${ASSET}/to`;
    assert.deepEqual(ids(0), [`${place}/0.0`, `${place}/1.0`], 'claims are stored by it');
  });
});
