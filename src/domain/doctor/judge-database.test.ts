import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Judged } from './diagnosis.ts';
import type { DatabaseFacts, ReplicationSlot, ServerState, SlowStatement, Standby, TableState } from './facts.ts';
import { judgeDatabase, judgeServer } from './judge-database.ts';

const NOW_MS = Date.parse('2026-11-18T12:00:00Z');
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
const at = (ms: number) => new Date(NOW_MS + ms);

const SERVER: ServerState = {
  ...{ version: '18.1', versionNumber: 180_001, role: 'till_run', isSuperuser: false, isStandby: false },
  ...{ startedAt: at(-DAY_MS), sizeBytes: 5 * GIB, connections: 20, maxConnections: 100, transactionAge: 1_000_000 },
  ...{ fsync: true, fullPageWrites: true, archiveMode: 'on', synchronousStandbys: '', dataDirectory: null },
  seesAll: true,
};
/** Questions without an answer have no facts, so that a row shows the facts of one question alone. */
const SILENT: DatabaseFacts = {
  ...{
    server: { unknown: 'no answer' },
    oldestTransaction: { unknown: 'no answer' },
    tables: { unknown: 'no answer' },
  },
  ...{ parts: { unknown: 'no answer' }, slow: { unknown: 'no answer' }, replication: { unknown: 'no answer' } },
  nowMs: NOW_MS,
};

const factsOf = ({ facts }: Judged) => facts.map(({ name, value }) => `${name}: ${value}`);
/** The findings about one question, as the operator reads them. */
const judged = (known: Partial<DatabaseFacts>) => {
  const { facts, findings } = judgeDatabase({ ...SILENT, ...known });
  return {
    facts: factsOf({ facts, findings }),
    findings: findings.filter(({ level }) => level !== 'unknown').map(({ level, message }) => `${level}: ${message}`),
  };
};
const findings = (known: Partial<DatabaseFacts>) => judged(known).findings;

describe('the judgement of a database server', () => {
  it('begins with its facts', () => {
    const facts = [
      'PostgreSQL: 18.1, running since 2026-11-17T12:00:00Z',
      'role: till_run',
      'size: 5 GiB',
      'connections: 20 of 100',
      'transaction age: 1,000,000 of 2,000,000,000',
    ];
    assert.deepEqual(factsOf(judgeServer(SERVER)), facts);
    assert.equal(factsOf(judgeServer({ ...SERVER, isSuperuser: true }))[1], 'role: till_run, a superuser');
  });

  const old = (age: string) =>
    `The oldest row is ${age} transactions old. At 2,000,000,000 PostgreSQL stops taking writes.`;
  const rows: readonly (readonly [server: Partial<ServerState>, finding: string | undefined])[] = [
    [{ versionNumber: 149_999, version: '14.99' }, 'fault: PostgreSQL 14.99 is too old.'],
    [{ versionNumber: 150_000, version: '15.0' }, undefined],
    [{ connections: 0, maxConnections: 0 }, undefined],
    [{ connections: 79 }, undefined],
    [{ connections: 80 }, 'warning: 80 of 100 connections are in use.'],
    [{ connections: 94 }, 'warning: 94 of 100 connections are in use.'],
    [{ connections: 95 }, 'fault: 95 of 100 connections are in use.'],
    [{ transactionAge: 499_999_999 }, undefined],
    [{ transactionAge: 500_000_000 }, `warning: ${old('500,000,000')}`],
    [{ transactionAge: 1_499_999_999 }, `warning: ${old('1,499,999,999')}`],
    [{ transactionAge: 1_500_000_000 }, `fault: ${old('1,500,000,000')}`],
  ];
  for (const [server, finding] of rows) {
    it(`with ${JSON.stringify(server)} finds ${finding ?? 'nothing'}`, () =>
      assert.deepEqual(findings({ server: { known: { ...SERVER, ...server } } }), [finding ?? []].flat()));
  }
});

describe('the judgement of the oldest transaction', () => {
  const judge = (ageMs: number) =>
    judged({ oldestTransaction: { known: { application: 'psql', state: 'active', since: at(-ageMs) } } });
  const found = (level: string, age: string) => [
    `${level}: A transaction of "psql" is open for ${age} (active): dead rows pile up in all tables.`,
  ];

  it('has its age, which is never below zero', () => {
    assert.deepEqual(judged({ oldestTransaction: { known: null } }).facts, ['oldest transaction: none is open']);
    assert.deepEqual(judge(3 * MINUTE_MS).facts, ['oldest transaction: 3 min, of "psql", active']);
    assert.deepEqual(judge(-5).facts, ['oldest transaction: 0 ms, of "psql", active']);
  });

  it('warns from ten minutes on, and finds a fault from a day on', () => {
    assert.deepEqual(judge(10 * MINUTE_MS - 1).findings, []);
    assert.deepEqual(judge(10 * MINUTE_MS).findings, found('warning', '10 min'));
    assert.deepEqual(judge(DAY_MS - 1).findings, found('warning', '24 h'));
    assert.deepEqual(judge(DAY_MS).findings, found('fault', '24 h'));
  });
});

describe('the judgement of the tables', () => {
  const table = (name: string, change: Partial<TableState> = {}): TableState => ({
    ...{ table: name, sizeBytes: 10 * MIB, liveRows: 1_000_000, deadRows: 0, vacuumedAt: at(0) },
    ...change,
  });

  it('names the five largest', () => {
    const known = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => table(name));
    assert.deepEqual(judged({ tables: { known } }).facts, [
      'largest tables: a 10 MiB, b 10 MiB, c 10 MiB, d 10 MiB, e 10 MiB',
    ]);
  });

  it('warns of a hundred thousand dead rows that are half as many as the live ones', () => {
    const known = [
      table('few', { deadRows: 99_999, liveRows: 10 }),
      table('small share', { deadRows: 100_000, liveRows: 200_001 }),
      table('items', { deadRows: 100_000, liveRows: 200_000 }),
      table('events', { deadRows: 300_000, liveRows: 1, vacuumedAt: null }),
    ];
    assert.deepEqual(findings({ tables: { known } }), [
      'warning: items has 100,000 dead rows beside 200,000 live rows; it was vacuumed last at 2026-11-18T12:00:00Z.',
      'warning: events has 300,000 dead rows beside 1 live row; it was vacuumed never.',
    ]);
  });
});

describe('the judgement of the statements', () => {
  const statement = (text: string, meanMs: number, calls: number): SlowStatement => ({
    ...{ text, calls, meanMs, totalMs: meanMs * calls },
  });

  it('shows those that took most time, and warns from half a second on average on', () => {
    const known = [statement('select 1', 499, 1_000), statement('select 2', 500, 1)];
    assert.deepEqual(judged({ slow: { known } }), {
      facts: ['most time was taken by: 499 ms × 1,000: select 1', ': 500 ms × 1: select 2'],
      findings: ['warning: A statement takes 500 ms on average, 1 time: select 2'],
    });
  });

  it('says that they are not known without the extension', () => {
    assert.deepEqual(judged({ slow: { known: null } }), {
      facts: ['slow statements: not known: the extension pg_stat_statements is not in the database'],
      findings: [],
    });
  });
});

describe('the judgement of the extensions', () => {
  it('names them with their versions', () => {
    const extensions = [
      { name: 'pg_trgm', version: '1.6' },
      { name: 'plpgsql', version: '1.0' },
    ];
    const { facts } = judged({ parts: { known: { extensions, invalidIndexes: [] } } });
    assert.deepEqual(facts, ['extensions: pg_trgm 1.6, plpgsql 1.0']);
  });
});

describe('the judgement of the replication', () => {
  const judge = (standbys: readonly Standby[], slots: readonly ReplicationSlot[] = []) =>
    judged({ replication: { known: { standbys, slots, archiveFailedAt: null } } });
  const standby = (name: string, lagBytes: number | null): Standby => ({
    ...{ name, state: 'streaming', sync: 'async', lagBytes },
  });
  const slot = (isActive: boolean, keptBytes: number | null) =>
    judge([], [{ name: 's', isActive, keptBytes }]).findings;

  it('shows the standbys, as far as the role may see them', () => {
    assert.deepEqual(judge([]), { facts: ['standbys: none'], findings: [] });
    const hidden = { name: 'b', state: null, sync: null, lagBytes: null };
    assert.deepEqual(judge([standby('a', 2_048), hidden]), {
      facts: ['standbys: a streaming (async, 2 KiB behind); b not visible (not visible)'],
      findings: [],
    });
  });

  it('warns of a standby that is 256 MiB behind', () => {
    assert.deepEqual(judge([standby('a', 256 * MIB - 1), standby('b', 256 * MIB)]).findings, [
      'warning: The standby b is 256 MiB behind: a failover would lose it, or wait for it.',
    ]);
  });

  it('warns of a slot that nobody reads, and finds a fault from 10 GiB on', () => {
    const found = (level: string, size: string) => [
      `${level}: Nobody reads the replication slot s; the server keeps ${size} of its log for it, and more until the disk is full.`,
    ];
    assert.deepEqual(slot(true, 20 * GIB), []);
    assert.deepEqual(slot(false, null), []);
    assert.deepEqual(slot(false, 0), found('warning', '0 bytes'));
    assert.deepEqual(slot(false, 10 * GIB - 1), found('warning', '10 GiB'));
    assert.deepEqual(slot(false, 10 * GIB), found('fault', '10 GiB'));
  });
});
