import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Judged } from './diagnosis.ts';
import type { AccountFacts, EndpointFacts, NetworkFacts } from './facts.ts';
import { judgeAccounts, judgeCertificates, judgeClocks, judgeDisk, judgeNetworks } from './judge-outside.ts';

const NOW_MS = Date.parse('2026-11-18T12:00:00Z');
const DAY_MS = 86_400_000;
const GIB = 1024 ** 3;
const COIN = 10n ** 18n;

const factsOf = ({ facts }: Judged) => facts.map(({ name, value }) => `${name}: ${value}`);
const findingsOf = ({ findings }: Judged) => findings.map(({ level, message }) => `${level}: ${message}`);

describe('the judgement of clocks', () => {
  const ahead = (...aheadMs: readonly number[]) => aheadMs.map((ms, index) => ({ name: `N${index}`, aheadMs: ms }));

  it('says how far they are off', () => {
    assert.deepEqual(factsOf(judgeClocks({ machineOffMs: { known: -12 }, heads: ahead(1, 0, -3_000) })), [
      'this machine: 12 ms behind',
      'head of N0: 1 ms ahead',
      'head of N1: 0 ms behind',
      'head of N2: 3 s behind',
    ]);
    assert.deepEqual(factsOf(judgeClocks({ machineOffMs: { unknown: 'out of reach' }, heads: [] })), [
      'this machine: not known',
    ]);
  });

  it('warns of a block that is more than 20 seconds ahead', () => {
    const { findings } = judgeClocks({ machineOffMs: { known: 0 }, heads: ahead(20_000, 20_001) });
    const message =
      'The newest block of N1 is 20 s ahead of the clock of the database: that clock is slow, or the endpoint lies.';
    const remedy = 'Compare the database with a time server. Expiries go by it.';
    assert.deepEqual(findings, [{ level: 'warning', message, remedy }]);
  });

  it('compares a block with the clock of the machine if that of the database is not known', () => {
    const { findings } = judgeClocks({ machineOffMs: { unknown: 'out of reach' }, heads: ahead(30_000) });
    const message =
      'The newest block of N0 is 30 s ahead of the clock of this machine: that clock is slow, or the endpoint lies.';
    assert.deepEqual(findings[1], { level: 'warning', message, remedy: 'Compare this machine with a time server.' });
  });
});

const endpoint = (change: Partial<EndpointFacts> = {}): EndpointFacts => ({
  ...{ endpoint: 1, isUp: true, head: 1_000, headAgeMs: 3_000, latencyMs: 80, problems: [] },
  ...change,
});
const network = (change: Partial<NetworkFacts>): NetworkFacts => ({
  ...{ network: 'eip155:8453', name: 'Base', blockTimeMs: 2_000, isSandbox: false, endpoints: [endpoint()] },
  readTo: 998,
  ...change,
});
const FAST_MS = 2_000;
const SLOW_MS = 12_000;

describe('the facts of a network', () => {
  const rows: readonly (readonly [endpoint: Partial<EndpointFacts>, text: string])[] = [
    [{}, 'up, block 1000, 3 s old, answers in 80 ms'],
    [{ head: 999 }, 'up, block 999, 3 s old, 1 block behind, answers in 80 ms'],
    [{ head: 990, latencyMs: null }, 'up, block 990, 3 s old, 10 blocks behind'],
    [{ headAgeMs: 0 }, 'up, block 1000, 0 ms old, answers in 80 ms'],
    [{ headAgeMs: -5_000 }, 'up, block 1000, 0 ms old, answers in 80 ms'],
    [{ headAgeMs: null }, 'up, block 1000, answers in 80 ms'],
    [{ head: null }, 'down'],
    [{ isUp: false }, 'down'],
  ];
  for (const [change, text] of rows) {
    it(`call an endpoint with ${JSON.stringify(change)}: ${text}`, () => {
      const endpoints = [endpoint(), endpoint({ endpoint: 2, ...change })];
      assert.equal(factsOf(judgeNetworks([network({ endpoints })]))[1], `eip155:8453, endpoint 2: ${text}`);
    });
  }

  it('have the block that the watcher has read', () => {
    const facts = [998, null].map((readTo) => factsOf(judgeNetworks([network({ readTo })])).at(-1));
    assert.deepEqual(facts, [
      'eip155:8453, watcher: has read block 998',
      'eip155:8453, watcher: has read nothing, or it is not known',
    ]);
  });
});

describe('the judgement of a network', () => {
  const stale = (age: string) =>
    `warning: The newest block of Base is ${age} old: the network stands still, its endpoints do not follow it, or the clock of the database is ahead.`;
  const unread = (blocks: number) =>
    `warning: The watcher of Base is ${blocks} blocks behind: payments there succeed late.`;
  const second = 'warning: Base (eip155:8453), endpoint 2';
  const aged = (...ages: readonly (number | null)[]) => ({
    endpoints: ages.map((headAgeMs, index) => endpoint({ endpoint: index + 1, headAgeMs })),
  });
  const other = (change: Partial<EndpointFacts>) => ({ endpoints: [endpoint(), endpoint({ endpoint: 2, ...change })] });

  const rows: readonly (readonly [title: string, change: Partial<NetworkFacts>, finding: string | undefined])[] = [
    ['a block of two minutes', aged(120_000), undefined],
    ['an older block', aged(120_001), stale('2 min')],
    ['20 slow blocks without a new one', { ...aged(240_000), blockTimeMs: SLOW_MS }, undefined],
    ['more than 20 slow blocks', { ...aged(240_001), blockTimeMs: SLOW_MS }, stale('4 min')],
    ['one endpoint that has a fresh block', aged(600_000, 3_000), undefined],
    ['a watcher that is two minutes behind', { readTo: 940, blockTimeMs: FAST_MS }, undefined],
    ['a watcher that is further behind', { readTo: 939, blockTimeMs: FAST_MS }, unread(61)],
    ['a watcher that is 20 slow blocks behind', { readTo: 980, blockTimeMs: SLOW_MS }, undefined],
    ['a watcher that is 21 slow blocks behind', { readTo: 979, blockTimeMs: SLOW_MS }, unread(21)],
    ['a watcher that has read nothing', { readTo: null }, undefined],
    ['an endpoint that lags by less than 15 seconds', { ...other({ head: 993 }), blockTimeMs: FAST_MS }, undefined],
    [
      'an endpoint that lags by more',
      { ...other({ head: 992 }), blockTimeMs: FAST_MS },
      `${second} is 8 blocks behind the others, so it is not asked.`,
    ],
    ['an endpoint that lags by 3 slow blocks', { ...other({ head: 997 }), blockTimeMs: SLOW_MS }, undefined],
    [
      'an endpoint that lags by 4 slow blocks',
      { ...other({ head: 996 }), blockTimeMs: SLOW_MS },
      `${second} is 4 blocks behind the others, so it is not asked.`,
    ],
    [
      'an endpoint without a block',
      other({ head: null }),
      `${second} is 1,000 blocks behind the others, so it is not asked.`,
    ],
    ['an answer within a second', other({ latencyMs: 1_000 }), undefined],
    ['a slower answer', other({ latencyMs: 1_001 }), `${second} answers after 1001 ms.`],
    [
      'a problem with full stops of its own',
      other({ problems: ['Version 1.2 is too old.'] }),
      `${second}: Version 1.2 is too old.`,
    ],
  ];
  for (const [title, change, finding] of rows) {
    it(`finds ${finding === undefined ? 'nothing in ' : ''}${title}`, () =>
      assert.deepEqual(findingsOf(judgeNetworks([network(change)])), [finding ?? []].flat()));
  }
});

describe('the judgement of an account', () => {
  const judge = (change: Partial<AccountFacts>) =>
    judgeAccounts([
      {
        ...{ network: 'eip155:8453', address: '0xAA', kind: 'relayer', balance: COIN, minBalance: COIN / 10n },
        ...{ spentPerDay: 0n, inFlight: 0 },
        ...change,
      },
    ]);

  it('begins with its coin and the transactions in flight', () => {
    assert.deepEqual(factsOf(judge({ inFlight: 1 })), ['relayer eip155:8453:0xAA: 1 coin, 1 transaction in flight']);
    assert.deepEqual(factsOf(judge({ balance: null, inFlight: null })), [
      'relayer eip155:8453:0xAA: balance not known',
    ]);
  });

  const tenth = COIN / 10n;
  const rows: readonly (readonly [title: string, change: Partial<AccountFacts>, finding: string | undefined])[] = [
    ['the least balance', { balance: tenth }, undefined],
    [
      'less than the least balance',
      { balance: tenth - 1n },
      'warning: The relayer eip155:8453:0xAA has 0.099999999999999999 coin, less than RELAYER_MIN_BALANCE (0.1).',
    ],
    ['coin for three days', { balance: 3n * tenth, spentPerDay: tenth }, undefined],
    [
      'coin for less than three days',
      { balance: 3n * tenth - 1n, spentPerDay: tenth },
      'warning: The relayer eip155:8453:0xAA has coin for 2 days: 0.299999999999999999, of which it spent 0.1 within a day.',
    ],
    [
      'coin for two days of the smallest unit',
      { balance: 2n, minBalance: null, spentPerDay: 1n },
      'warning: The relayer eip155:8453:0xAA has coin for 2 days: 0.000000000000000002, of which it spent 0.000000000000000001 within a day.',
    ],
  ];
  for (const [title, change, finding] of rows) {
    it(`finds ${finding === undefined ? 'nothing in ' : ''}${title}`, () =>
      assert.deepEqual(findingsOf(judge(change)), [finding ?? []].flat()));
  }
});

describe('the judgement of a disk', () => {
  const rows: readonly (readonly [free: number, total: number, finding: string | undefined])[] = [
    [0, 0, 'fault: The disk of TILL_HOME has 0 bytes of 0 bytes left.'],
    [GIB / 2 - 1, 4 * GIB, 'fault: The disk of TILL_HOME has 512 MiB of 4 GiB left.'],
    [GIB / 2, 4 * GIB, 'warning: The disk of TILL_HOME has 512 MiB of 4 GiB left.'],
    [2 * GIB - 1, 4 * GIB, 'warning: The disk of TILL_HOME has 2 GiB of 4 GiB left.'],
    [2 * GIB, 4 * GIB, undefined],
    [10 * GIB - 1, 100 * GIB, 'warning: The disk of TILL_HOME has 10 GiB of 100 GiB left.'],
    [10 * GIB, 100 * GIB, undefined],
    [50 * GIB - 1, 1_000 * GIB, 'warning: The disk of TILL_HOME has 50 GiB of 1000 GiB left.'],
    [50 * GIB, 1_000 * GIB, undefined],
  ];
  for (const [freeBytes, totalBytes, finding] of rows) {
    it(`with ${freeBytes} of ${totalBytes} bytes free finds ${finding ?? 'nothing'}`, () => {
      const judged = judgeDisk([{ what: 'TILL_HOME', space: { known: { freeBytes, totalBytes } } }]);
      assert.deepEqual(findingsOf(judged), [finding ?? []].flat());
    });
  }
});

describe('the judgement of a certificate', () => {
  const judge = (fromMs: number, leftMs: number) => {
    const [from, until] = [new Date(NOW_MS + fromMs), new Date(NOW_MS + leftMs)];
    const certificate = { known: { issuer: 'Authority', from, until, refusal: null } };
    return findingsOf(judgeCertificates([{ what: 'PUBLIC_URL', certificate, nowMs: NOW_MS }]));
  };
  const rows: readonly (readonly [title: string, fromMs: number, leftMs: number, finding: string | undefined])[] = [
    ['its end', -DAY_MS, 0, 'fault: The certificate of PUBLIC_URL expired at 2026-11-18T12:00:00Z.'],
    ['its last moment', -DAY_MS, 1, 'fault: The certificate of PUBLIC_URL ends in 1 ms, at 2026-11-18T12:00:00Z.'],
    [
      'less than three days',
      -DAY_MS,
      3 * DAY_MS - 1,
      'fault: The certificate of PUBLIC_URL ends in 2 days, at 2026-11-21T11:59:59Z.',
    ],
    [
      'three days',
      -DAY_MS,
      3 * DAY_MS,
      'warning: The certificate of PUBLIC_URL ends in 3 days, at 2026-11-21T12:00:00Z.',
    ],
    [
      'less than three weeks',
      -DAY_MS,
      21 * DAY_MS - 1,
      'warning: The certificate of PUBLIC_URL ends in 20 days, at 2026-12-09T11:59:59Z.',
    ],
    ['three weeks', -DAY_MS, 21 * DAY_MS, undefined],
    ['its beginning', 0, 60 * DAY_MS, undefined],
    [
      'the time before its beginning',
      1_000,
      60 * DAY_MS,
      'fault: The certificate of PUBLIC_URL is valid only from 2026-11-18T12:00:01Z on.',
    ],
  ];
  for (const [title, fromMs, leftMs, finding] of rows) {
    it(`at ${title} finds ${finding ?? 'nothing'}`, () =>
      assert.deepEqual(judge(fromMs, leftMs), [finding ?? []].flat()));
  }
});
