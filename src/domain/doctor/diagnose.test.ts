import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { diagnose } from './diagnose.ts';
import type { Level } from './diagnosis.ts';
import type { CheckName, DatabaseFacts, DoctorFacts, Gathered, NetworkFacts, ReplicaFacts } from './facts.ts';

const NOW_MS = Date.parse('2026-11-18T12:00:00Z');
const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;
const GIB = 1024 ** 3;
const ago = (ms: number) => new Date(NOW_MS - ms);
const COIN = 10n ** 18n;

const SERVER = {
  version: '18.1',
  versionNumber: 180_001,
  role: 'till_run',
  isSuperuser: false,
  isStandby: false,
  startedAt: ago(DAY_MS),
  sizeBytes: 5 * GIB,
  connections: 20,
  maxConnections: 97,
  transactionAge: 1_000_000,
  fsync: true,
  fullPageWrites: true,
  archiveMode: 'on',
  synchronousStandbys: '',
  dataDirectory: null,
  seesAll: true,
};
const DATABASE: DatabaseFacts = {
  server: { known: SERVER },
  oldestTransaction: { known: null },
  tables: { known: [{ table: 'payments', sizeBytes: GIB, liveRows: 1_000_000, deadRows: 5_000, vacuumedAt: ago(1) }] },
  parts: { known: { extensions: [{ name: 'pg_trgm', version: '1.6' }], invalidIndexes: [] } },
  slow: { known: [{ text: 'select $1', calls: 10, meanMs: 2, totalMs: 20 }] },
  replication: { known: { standbys: [], slots: [], archiveFailedAt: null } },
  nowMs: NOW_MS,
};
const ENDPOINT = { endpoint: 1, isUp: true, head: 1_000, headAgeMs: 3_000, latencyMs: 80, problems: [] };
const DOWN = {
  endpoint: 3,
  isUp: false,
  head: null,
  headAgeMs: null,
  latencyMs: null,
  problems: ['it cannot be reached'],
};
const NETWORK: NetworkFacts = {
  network: 'eip155:8453',
  name: 'Base',
  blockTimeMs: 2_000,
  isSandbox: false,
  endpoints: [ENDPOINT, { ...ENDPOINT, endpoint: 2 }, { ...ENDPOINT, endpoint: 3, head: 999 }],
  readTo: 998,
};
const [FIRST, SECOND] = NETWORK.endpoints as [NetworkFacts['endpoints'][0], NetworkFacts['endpoints'][0]];
const RELAYER = {
  network: 'eip155:8453',
  address: '0xAA',
  kind: 'relayer' as const,
  balance: COIN,
  minBalance: COIN / 100n,
  spentPerDay: COIN / 100n,
  inFlight: 0,
};
const LEASE = {
  name: 'watch eip155:8453',
  work: 'watching Base (role watch)',
  isHeld: true,
  holder: 'one/ab',
  since: ago(1),
};
const NODE = { host: 'one', roles: ['api'], startedAt: ago(DAY_MS), seenAt: ago(SECOND_MS), isUp: true };
const WEBHOOK = {
  id: 'whe_1',
  partnerId: 'prtn_1',
  mode: 'live',
  origin: 'https://shop.example',
  status: 'active',
  failingSince: ago(DAY_MS),
  waiting: 3,
  problem: 'HTTP status 500',
};
const CERTIFICATE = {
  issuer: 'Authority',
  from: ago(30 * DAY_MS),
  until: new Date(NOW_MS + 60 * DAY_MS),
  refusal: null,
};

const WELL: DoctorFacts = {
  program: { version: '1.0.0', node: 'v24.1.0', host: 'one', system: 'Linux' },
  settings: { changed: [{ setting: 'PORT', value: '80' }], refusals: [], risks: [] },
  database: DATABASE,
  replica: null,
  schema: { applied: ['0001_a.sql', '0002_b.sql'], missing: [], mismatch: null },
  secret: { opens: { known: true }, nodes: [{ host: 'one', id: 'n1', knowsNewest: true }] },
  nodes: { nodes: [NODE], missingRoles: [] },
  leases: [LEASE],
  clocks: { machineOffMs: { known: 12 }, heads: [{ name: 'Base', aheadMs: -3_000 }] },
  networks: [NETWORK],
  accounts: [RELAYER, { ...RELAYER, kind: 'intermediate account', balance: 0n, minBalance: null }],
  alerts: [],
  webhooks: [],
  disk: [{ what: 'TILL_HOME', space: { known: { freeBytes: 50 * GIB, totalBytes: 100 * GIB } } }],
  publicUrl: { publicUrl: 'https://till.example', answer: { is: 'here', peer: '', hasForwardedFor: false } },
  certificates: [{ what: 'PUBLIC_URL', certificate: { known: CERTIFICATE }, nowMs: NOW_MS }],
};

function gathered(facts: Partial<DoctorFacts>): Gathered {
  const known = Object.entries({ ...WELL, ...facts }).map(([name, value]) => [name, { known: value }]);
  return Object.fromEntries(known) as Gathered;
}

const server = (change: Partial<typeof SERVER>) => ({
  database: { ...DATABASE, server: { known: { ...SERVER, ...change } } },
});
const database = (change: Partial<DatabaseFacts>) => ({ database: { ...DATABASE, ...change } });
const network = (change: Partial<NetworkFacts>) => ({ networks: [{ ...NETWORK, ...change }] });
const relayer = (change: Partial<typeof RELAYER>) => ({ accounts: [{ ...RELAYER, ...change }] });
const space = (freeBytes: number) => ({
  disk: [{ what: 'TILL_HOME', space: { known: { freeBytes, totalBytes: 100 * GIB } } }],
});
const certificate = (change: Partial<Omit<typeof CERTIFICATE, 'refusal'> & { refusal: string }>) => ({
  certificates: [{ what: 'PUBLIC_URL', certificate: { known: { ...CERTIFICATE, ...change } }, nowMs: NOW_MS }],
});
const replica = (change: Partial<ReplicaFacts>) => ({
  replica: {
    ...{ version: '18.1', role: 'till_read', standing: 'follows' as const, lagMs: 40, behindBytes: 0, maxLagMs: 5_000 },
    ...change,
  },
});
const transaction = (ageMs: number) =>
  database({ oldestTransaction: { known: { application: 'psql', state: 'idle in transaction', since: ago(ageMs) } } });

type Row = readonly [facts: Partial<DoctorFacts>, level: Level, message: RegExp, remedy: RegExp];

/** One fact is changed in each row. The finding says what it is, and what to do. */
const ROWS: readonly Row[] = [
  [{ program: { ...WELL.program, node: 'v22.3.0' } }, 'warning', /^Node v22\.3\.0 is older than 24/, /node_modules/],
  [
    { settings: { ...WELL.settings, refusals: ['RPC_URLS must name'] } },
    'fault',
    /refuses to start.*RPC_URLS/,
    /Change/,
  ],
  [{ settings: { ...WELL.settings, risks: ['a risk'] } }, 'remark', /^A risk\.$/, /security\.md/],
  [{ database: { outage: 'ECONNREFUSED' } }, 'fault', /^The database is out of reach: ECONNREFUSED\.$/, /DATABASE_URL/],
  [server({ versionNumber: 140_009, version: '14.9' }), 'fault', /^PostgreSQL 14\.9 is too old/, /15 or newer/],
  [server({ isStandby: true }), 'fault', /is a standby/, /primary/],
  [server({ fsync: false }), 'fault', /^fsync is off/, /postgresql\.conf/],
  [server({ fsync: false, fullPageWrites: false }), 'fault', /^fsync and full_page_writes are off/, /postgresql\.conf/],
  [server({ connections: 80 }), 'warning', /^80 of 97 connections/, /max_connections/],
  [server({ connections: 96 }), 'fault', /^96 of 97 connections/, /DATABASE_POOL_SIZE/],
  [server({ transactionAge: 600_000_000 }), 'warning', /600,000,000 transactions old/, /VACUUM/],
  [server({ transactionAge: 1_600_000_000 }), 'fault', /1,600,000,000 transactions old/, /VACUUM/],
  [server({ isSuperuser: true }), 'remark', /^till_run is a superuser/, /till database roles/],
  [server({ seesAll: false }), 'remark', /its own connections alone/, /pg_monitor/],
  [database({ server: { unknown: 'no answer within 8 s' } }), 'unknown', /could not be read: no answer/, /pg_monitor/],
  [transaction(11 * 60_000), 'warning', /"psql" is open for 11 min \(idle in transaction\)/, /pg_terminate_backend/],
  [transaction(2 * DAY_MS), 'fault', /"psql" is open for 2 days/, /pg_terminate_backend/],
  [
    database({
      tables: { known: [{ table: 'items', sizeBytes: GIB, liveRows: 100, deadRows: 900_000, vacuumedAt: null }] },
    }),
    'warning',
    /^items has 900,000 dead rows beside 100 live rows; it was vacuumed never/,
    /VACUUM \(ANALYZE\) items/,
  ],
  [
    database({ parts: { known: { extensions: [], invalidIndexes: [] } } }),
    'fault',
    /pg_trgm is missing/,
    /CREATE EXTENSION/,
  ],
  [
    database({ parts: { known: { extensions: [{ name: 'pg_trgm', version: '1' }], invalidIndexes: ['by_key'] } } }),
    'warning',
    /interrupted: by_key/,
    /REINDEX/,
  ],
  [
    database({ slow: { known: [{ text: 'select $1', calls: 2, meanMs: 900, totalMs: 1_800 }] } }),
    'warning',
    /takes 900 ms on average, 2 times: select \$1/,
    /EXPLAIN/,
  ],
  [
    database({
      replication: {
        known: {
          standbys: [{ name: 'b', state: 'streaming', sync: 'async', lagBytes: GIB }],
          slots: [],
          archiveFailedAt: null,
        },
      },
    }),
    'warning',
    /standby b is 1 GiB behind/,
    /disk/,
  ],
  [
    database({
      replication: {
        known: { standbys: [], slots: [{ name: 's', isActive: false, keptBytes: 20 * GIB }], archiveFailedAt: null },
      },
    }),
    'fault',
    /slot s; the server keeps 20 GiB/,
    /pg_drop_replication_slot/,
  ],
  [
    database({ replication: { known: { standbys: [], slots: [], archiveFailedAt: ago(DAY_MS) } } }),
    'fault',
    /not been archived since a failure at 2026-11-17T12:00:00Z/,
    /archive_command/,
  ],
  [
    { schema: { applied: [], missing: ['0001_a.sql'], mismatch: null } },
    'fault',
    /^1 migration .* is missing/,
    /till migrate/,
  ],
  [
    { schema: { applied: [], missing: [], mismatch: 'The database was migrated by a newer version' } },
    'fault',
    /newer version\.$/,
    /version that migrated/,
  ],
  [
    { secret: { opens: { known: false }, nodes: [] } },
    'fault',
    /another master secret than the one of this machine/,
    /TILL_SECRET/,
  ],
  [
    { secret: { opens: { unknown: 'it is not set' }, nodes: [] } },
    'unknown',
    /is not known: it is not set/,
    /TILL_SECRET/,
  ],
  [
    { secret: { opens: { known: true }, nodes: [{ host: 'two', id: 'n2', knowsNewest: false }] } },
    'fault',
    /node n2 on two has another master secret/,
    /same TILL_SECRET/,
  ],
  [
    { secret: { opens: { known: true }, nodes: [{ host: 'two', id: 'n2', knowsNewest: null }] } },
    'unknown',
    /n2 on two does not say/,
    /Upgrade/,
  ],
  [
    { nodes: { nodes: [{ ...NODE, isUp: false }], missingRoles: ['api'] } },
    'fault',
    /^No node of this gateway runs/,
    /Start one/,
  ],
  [{ nodes: { nodes: [NODE], missingRoles: ['jobs'] } }, 'fault', /has the role jobs/, /--role jobs/],
  [{ leases: [{ ...LEASE, isHeld: false }] }, 'fault', /does this work: watching Base/, /Start a node/],
  [{ leases: [{ ...LEASE, isHeld: false, work: null }] }, 'well', /./, /./],
  [{ clocks: { machineOffMs: { known: 120_000 }, heads: [] } }, 'warning', /120 s ahead of the database/, /NTP/],
  [
    { clocks: { machineOffMs: { unknown: 'out of reach' }, heads: [] } },
    'unknown',
    /could not be compared/,
    /ask again/,
  ],
  [
    { clocks: { machineOffMs: { known: 0 }, heads: [{ name: 'Base', aheadMs: 125_000 }] } },
    'warning',
    /newest block of Base is 2 min ahead of the clock of the database/,
    /time server/,
  ],
  [{ networks: [] }, 'remark', /No network is configured/, /RPC_URLS/],
  [
    network({ endpoints: [FIRST, SECOND, DOWN] }),
    'warning',
    /Base \(eip155:8453\), endpoint 3 is down: it cannot be reached\. The others/,
    /RPC_URLS/,
  ],
  [network({ endpoints: [FIRST, DOWN] }), 'warning', /endpoint 3 is down.*three times the depth/, /RPC_URLS/],
  [network({ endpoints: [DOWN] }), 'fault', /Nothing can be paid there/, /networks check/],
  [network({ endpoints: [FIRST, { ...SECOND, head: 900 }] }), 'warning', /endpoint 2 is 100 blocks behind/, /RPC_URLS/],
  [
    network({ endpoints: [FIRST, { ...SECOND, latencyMs: 2_500 }] }),
    'warning',
    /endpoint 2 answers after 2500 ms/,
    /nearer/,
  ],
  [
    network({ endpoints: [{ ...FIRST, headAgeMs: 600_000 }] }),
    'warning',
    /newest block of Base is 10 min old/,
    /explorer/,
  ],
  [network({ isSandbox: true, endpoints: [{ ...FIRST, headAgeMs: 600_000 }] }), 'well', /./, /./],
  [
    network({ endpoints: [{ ...FIRST, problems: ['No Collector.'] }] }),
    'warning',
    /endpoint 1: No Collector\.$/,
    /network_not_as_known/,
  ],
  [network({ readTo: 100 }), 'warning', /watcher of Base is 900 blocks behind/, /role `watch`/],
  [network({ readTo: null }), 'well', /./, /./],
  [relayer({ balance: 0n }), 'fault', /0xAA has no coin/, /Send native coin/],
  [relayer({ balance: COIN / 200n }), 'warning', /0\.005 coin, less than RELAYER_MIN_BALANCE/, /Send native coin/],
  [relayer({ spentPerDay: COIN / 2n }), 'warning', /coin for 2 days/, /Send native coin/],
  [{ accounts: [{ ...RELAYER, balance: null }] }, 'unknown', /its balance is not known/, /endpoints/],
  [
    {
      alerts: [{ name: 'frozen', subject: 'payouts', message: 'Stopped', since: ago(DAY_MS), runbook: 'docs/a.md#b' }],
    },
    'warning',
    /^frozen \(payouts\), since 2026-11-17T12:00:00Z: Stopped\.$/,
    /docs\/a\.md#b/,
  ],
  [
    { webhooks: [WEBHOOK] },
    'warning',
    /whe_1 .*has failed since .*; 3 deliveries wait; the last answer: HTTP status 500/,
    /Tell the partner/,
  ],
  [{ webhooks: [{ ...WEBHOOK, waiting: 1 }] }, 'warning', /; 1 delivery waits;/, /three days/],
  [{ webhooks: [{ ...WEBHOOK, status: 'disabled' }] }, 'warning', /is disabled; the last answer/, /PATCH/],
  [space(1.5 * GIB), 'warning', /has 1\.5 GiB of 100 GiB left/, /Free space/],
  [space(9 * GIB), 'warning', /has 9 GiB of 100 GiB left/, /Free space/],
  [space(GIB / 8), 'fault', /has 128 MiB of 100 GiB left/, /Free space/],
  [
    { disk: [{ what: 'the database', space: { unknown: 'it is elsewhere' } }] },
    'remark',
    /cannot be seen from here/,
    /on that machine/,
  ],
  [{ publicUrl: null }, 'well', /./, /./],
  [
    { publicUrl: { publicUrl: 'https://till.example', answer: { is: 'silent', reason: 'ENOTFOUND' } } },
    'warning',
    /^Nothing answers at PUBLIC_URL \(https:\/\/till\.example\) yet: ENOTFOUND\.$/,
    /lead to a node of this gateway, then run `till doctor` again/,
  ],
  [
    { publicUrl: { publicUrl: 'https://till.example', answer: { is: 'elsewhere', status: 404, location: undefined } } },
    'fault',
    /leads elsewhere: another program answers there, with status 404\.$/,
    /whose proxy leads to a node of this gateway/,
  ],
  [replica({}), 'well', /./, /./],
  [replica({ standing: 'behind', lagMs: null }), 'warning', /not reached the primary within 5 s/, /READ_MAX_LAG_MS/],
  [
    replica({ standing: 'not_a_replica', lagMs: null }),
    'warning',
    /no streaming replica/,
    /standby of the same server/,
  ],
  [replica({ standing: 'other_timeline', lagMs: null }), 'remark', /present primary/, /pg_rewind/],
  [{ replica: { outage: 'ECONNREFUSED' } }, 'warning', /out of reach: ECONNREFUSED/, /READ_DATABASE_URL/],
  [certificate({ until: ago(DAY_MS) }), 'fault', /of PUBLIC_URL expired at 2026-11-17T12:00:00Z/, /Renew/],
  [certificate({ from: new Date(NOW_MS + DAY_MS) }), 'fault', /valid only from/, /time server/],
  [certificate({ until: new Date(NOW_MS + 10 * DAY_MS) }), 'warning', /ends in 10 days/, /Renew/],
  [certificate({ until: new Date(NOW_MS + 2 * DAY_MS) }), 'fault', /ends in 2 days/, /Renew/],
  [certificate({ refusal: 'DEPTH_ZERO_SELF_SIGNED_CERT' }), 'fault', /Clients refuse .*SELF_SIGNED/, /known authority/],
  [
    { certificates: [{ what: 'PUBLIC_URL', certificate: { unknown: 'ECONNREFUSED' }, nowMs: NOW_MS }] },
    'unknown',
    /could not be read: ECONNREFUSED/,
    /TLS/,
  ],
];

describe('the diagnosis', () => {
  it('finds nothing where all is well', () => {
    const { level, sections } = diagnose(gathered({}));
    const findings = sections.flatMap((section) => section.findings);
    assert.deepEqual([level, findings], ['well', []]);
    assert.ok(sections.every(({ facts }) => facts.length > 0));
  });

  for (const [index, [facts, expected, message, remedy]] of ROWS.entries()) {
    it(`judges ${Object.keys(facts)[0]} as ${expected} (row ${index + 1}: ${message.source})`, () => {
      const { level, sections } = diagnose(gathered(facts));
      const findings = sections.flatMap((section) => section.findings);
      assert.equal(level, expected, JSON.stringify(findings));
      if (expected === 'well') return;
      assert.equal(findings.length, 1, JSON.stringify(findings));
      assert.match(findings[0]?.message ?? '', message);
      assert.match(findings[0]?.remedy ?? '', remedy);
      assert.equal(findings[0]?.level, expected);
    });
  }

  it('never calls a check well that could not be made, and goes on with the others', () => {
    for (const check of Object.keys(WELL) as CheckName[]) {
      const facts: Gathered = { ...gathered({}), [check]: { unknown: 'no answer within 8 s' } };
      const { level, sections } = diagnose(facts);
      assert.equal(level, 'unknown', check);
      const bad = sections.filter((section) => section.level !== 'well');
      assert.deepEqual(
        bad.map((section) => [section.check, section.level, section.findings.length]),
        [[check, 'unknown', 1]],
      );
      assert.match(bad[0]?.findings[0]?.message ?? '', /no answer within 8 s/);
      assert.ok((bad[0]?.findings[0]?.remedy ?? '').length > 10);
    }
  });
});
