import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Judged } from './diagnosis.ts';
import type { SecretFacts, WebhookFacts } from './facts.ts';
import {
  judgeAlerts,
  judgeLeases,
  judgeNodes,
  judgeProgram,
  judgeSchema,
  judgeSecret,
  judgeSettings,
  judgeWebhooks,
} from './judge-gateway.ts';

const SINCE = new Date('2026-11-17T12:00:00Z');

const factsOf = ({ facts }: Judged) => facts.map(({ name, value }) => `${name}: ${value}`);
const findingsOf = ({ findings }: Judged) => findings.map(({ level, message }) => `${level}: ${message}`);

describe('the judgement of a program', () => {
  it('names the versions and the machine, and warns of a Node before 24', () => {
    const judge = (node: string) => judgeProgram({ version: '1.2.0', node, host: 'one', system: 'Linux 6' });
    assert.deepEqual(factsOf(judge('v24.0.0')), ['Till: 1.2.0', 'Node: v24.0.0', 'machine: one, Linux 6']);
    assert.deepEqual(
      ['v24.0.0', 'v23.9.0'].map((node) => findingsOf(judge(node))),
      [[], ['warning: Node v23.9.0 is older than 24.']],
    );
  });
});

describe('the judgement of the settings', () => {
  it('is written in sentences with one full stop at the end', () => {
    const risks = ['see 3.4', 'see 3.4.', 'See 3.4...'];
    const { findings } = judgeSettings({ changed: [], refusals: [], risks });
    assert.deepEqual(
      findings.map(({ message }) => message),
      ['See 3.4.', 'See 3.4.', 'See 3.4.'],
    );
  });
});

describe('the judgement of the schema', () => {
  it('has the number of migrations, and the last one', () => {
    const facts = [[], ['0001_a.sql'], ['0001_a.sql', '0002_b.sql']].flatMap((applied) =>
      factsOf(judgeSchema({ applied, missing: [], mismatch: null })),
    );
    assert.deepEqual(facts, [
      'migrations: none',
      'migrations: 1 migration, the last is 0001_a.sql',
      'migrations: 2 migrations, the last is 0002_b.sql',
    ]);
  });
});

describe('the judgement of the master secret', () => {
  const rows: readonly (readonly [opens: SecretFacts['opens'], value: string])[] = [
    [{ unknown: 'it is not set' }, 'not known'],
    [{ known: null }, 'no node has stored one'],
    [{ known: true }, 'yes'],
    [{ known: false }, 'no'],
  ];
  for (const [opens, value] of rows) {
    it(`of ${JSON.stringify(opens)} says: ${value}`, () =>
      assert.deepEqual(factsOf(judgeSecret({ opens, nodes: [] })), [`opens the database: ${value}`]));
  }
});

describe('the judgement of the nodes', () => {
  it('is well while one of them runs', () => {
    const node = { host: 'one', roles: ['api', 'jobs'], startedAt: SINCE, seenAt: SINCE, isUp: true };
    const judged = judgeNodes({ nodes: [node, { ...node, host: 'two', isUp: false }], missingRoles: [] });
    assert.deepEqual(findingsOf(judged), []);
    assert.deepEqual(factsOf(judged), [
      'one: up since 2026-11-17T12:00:00Z, roles api, jobs',
      'two: gone: last seen at 2026-11-17T12:00:00Z',
    ]);
  });
});

describe('the judgement of the leases', () => {
  it('has the holder of each', () => {
    const lease = { name: 'jobs', work: 'jobs', isHeld: true, holder: 'one/ab', since: SINCE };
    const rows = [lease, { ...lease, since: null }, { ...lease, isHeld: false }];
    assert.deepEqual(factsOf(judgeLeases(rows)), [
      'jobs: one/ab since 2026-11-17T12:00:00Z',
      'jobs: one/ab for more than 90 days',
      'jobs: nobody',
    ]);
  });
});

describe('the judgement of the alerts', () => {
  it('counts them', () => {
    const alert = { name: 'frozen', subject: 'payouts', message: 'Stopped', since: SINCE, runbook: 'docs/a.md#b' };
    assert.deepEqual(
      [[], [alert], [alert, alert]].flatMap((alerts) => factsOf(judgeAlerts(alerts))),
      ['raised: none', 'raised: 1', 'raised: 2'],
    );
  });
});

describe('the judgement of the webhooks', () => {
  const endpoint = (waiting: number): WebhookFacts => ({
    ...{ id: 'whe_1', partnerId: 'prtn_1', mode: 'live', origin: 'https://shop.example', status: 'active' },
    ...{ failingSince: SINCE, waiting, problem: null },
  });

  it('counts the endpoints that fail', () => {
    assert.deepEqual(
      [[], [endpoint(1)], [endpoint(1), endpoint(1)]].flatMap((each) => factsOf(judgeWebhooks(each))),
      ['endpoints that fail: none', 'endpoints that fail: 1', 'endpoints that fail: 2'],
    );
  });

  it('counts the deliveries that wait up to a thousand', () => {
    const failed = 'warning: The webhook endpoint whe_1 of prtn_1 (live, https://shop.example) has failed';
    assert.deepEqual(findingsOf(judgeWebhooks([0, 1, 2, 999, 1_000].map(endpoint))), [
      `${failed} since 2026-11-17T12:00:00Z; 0 deliveries wait.`,
      `${failed} since 2026-11-17T12:00:00Z; 1 delivery waits.`,
      `${failed} since 2026-11-17T12:00:00Z; 2 deliveries wait.`,
      `${failed} since 2026-11-17T12:00:00Z; 999 deliveries wait.`,
      `${failed} since 2026-11-17T12:00:00Z; a thousand deliveries or more wait.`,
    ]);
  });
});
