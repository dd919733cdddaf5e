import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EntryKind, Line } from './books.ts';
import { type LoggedEvent, lineOfAction, lineOfEntry, lineOfEvent, MONEY_LINES, type MoneyLine } from './money-line.ts';

const AT = new Date('2026-11-18T09:30:41.250Z');
const at = AT.toISOString();
const NETWORK = 'eip155:1';
const [TOKEN, OTHER_TOKEN] = [`${NETWORK}/erc20:0xa`, `${NETWORK}/erc20:0xb`];

describe('the lines of the money log', () => {
  it('are named once each, with a sentence, without what decides nothing about money', () => {
    const names = MONEY_LINES.map(([name]) => name as string);
    assert.equal(new Set(names).size, names.length);
    for (const [name, summary] of MONEY_LINES) assert.match(summary, /^[A-Z].*\.$/, name);
    for (const name of ['payment.succeeded', 'books.swept', 'freeze.set']) assert.ok(names.includes(name), name);
    for (const name of ['payment.created', 'books.paid', 'books.gas']) assert.ok(!names.includes(name), name);
  });
});

describe('the money line of an event', () => {
  const event = (change: Partial<LoggedEvent>): LoggedEvent => ({
    ...{ type: 'payment.succeeded', objectId: 'pay_1', merchantId: 'mrch_1', actor: 'watcher', at: AT },
    data: { network: NETWORK, tokenAsset: TOKEN, tokenValue: '5', transactionHash: '0x11', status: 'succeeded' },
    ...change,
  });
  const line: MoneyLine = {
    ...{ money: 'payment.succeeded', subject: 'pay_1', merchantId: 'mrch_1', network: NETWORK, asset: TOKEN },
    ...{ amount: '5', transaction: '0x11', actor: 'watcher', at },
  };
  const rows: readonly (readonly [title: string, event: LoggedEvent, lines: readonly MoneyLine[]])[] = [
    ['has the fields of the object', event({}), [line]],
    [
      'has the transaction and the move of the evidence',
      event({ type: 'refund.processing', objectId: 'rfnd_1', evidence: { transaction: '0x22', move: 'covered' } }),
      [{ ...line, money: 'refund.processing', subject: 'rfnd_1', transaction: '0x22', step: 'covered' }],
    ],
    [
      'has the asset, the amount and the state of late money',
      event({
        type: 'payment.late_money',
        data: {
          ...{ network: NETWORK, tokenAsset: TOKEN, tokenValue: '5' },
          lateMoney: { asset: OTHER_TOKEN, amount: '9', status: 'held' },
        },
        evidence: { transaction: '0x22', move: 'named' },
      }),
      [
        {
          ...{ ...line, money: 'payment.late_money', asset: OTHER_TOKEN, amount: '9', transaction: '0x22' },
          step: 'held',
        },
      ],
    ],
    [
      'leaves out what is missing, or no text',
      event({ merchantId: null, data: { network: null, tokenValue: 5 } }),
      [{ money: 'payment.succeeded', subject: 'pay_1', actor: 'watcher', at }],
    ],
    ['is none if the event decides nothing about money', event({ type: 'payment.created' }), []],
  ];
  for (const [title, logged, lines] of rows) it(title, () => assert.deepEqual(lineOfEvent(logged), lines));
});

describe('the money line of an entry of the books', () => {
  const lines: readonly Line[] = [
    { account: 'outside', units: -7n },
    { account: 'fees', units: 1n },
    { account: 'settled/mrch_1', units: 6n },
  ];
  const entry = (kind: EntryKind) => ({
    ...{ network: NETWORK, asset: TOKEN, kind, subject: 'pay_1', reference: '0x1', merchantId: 'mrch_1' },
    ...{ transaction: '0x11', block: 3, note: null, lines },
  });
  const line: MoneyLine = {
    ...{ money: 'books.swept', subject: 'pay_1', merchantId: 'mrch_1', network: NETWORK, asset: TOKEN },
    ...{ amount: '7', transaction: '0x11', at },
  };

  it('has the units that the entry moves', () => {
    assert.deepEqual(lineOfEntry(entry('swept'), AT), [line]);
  });

  it('is none if an event has it', () => {
    assert.deepEqual(lineOfEntry(entry('paid'), AT), []);
  });

  it('leaves out a merchant and a transaction that are missing', () => {
    const { merchantId: _, transaction: __, ...rest } = line;
    assert.deepEqual(lineOfEntry({ ...entry('swept'), merchantId: null, transaction: null }, AT), [rest]);
  });
});

describe('the money line of an action', () => {
  it('is of the decisions of people about money, and of no other action', () => {
    const action = { action: 'freeze.set', subject: 'payouts', actor: 'operator', at: AT };
    assert.deepEqual(lineOfAction(action), [{ money: 'freeze.set', subject: 'payouts', actor: 'operator', at }]);
    for (const other of ['key.created', 'toString']) assert.deepEqual(lineOfAction({ ...action, action: other }), []);
  });
});
