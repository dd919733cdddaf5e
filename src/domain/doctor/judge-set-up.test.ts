import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Finding } from './diagnosis.ts';
import { judgeOwnUrl, judgeProxy, judgePublicUrl, judgeRights } from './judge-set-up.ts';

const RIGHTS = {
  role: 'app',
  database: 'till',
  schema: 'public',
  mayCreate: true,
  trigrams: 'missing',
  mayExtend: true,
} as const;
const WHERE = { publicUrl: 'https://till.example.com', place: '127.0.0.1:8080', command: 'till init' } as const;
const HERE = { is: 'here', peer: '10.0.0.5', hasForwardedFor: true } as const;

const line = ({ level, message, remedy }: Finding) => `${level}: ${message} ${remedy}`;

describe('the judgement of a set-up', () => {
  const rows: readonly (readonly [title: string, findings: Finding[], expected: string | undefined])[] = [
    ['a role that may create everything', judgeRights(RIGHTS), undefined],
    ['an extension that is there', judgeRights({ ...RIGHTS, trigrams: 'there', mayExtend: false }), undefined],
    [
      'a role that may not create tables',
      judgeRights({ ...RIGHTS, mayCreate: false }),
      'fault: The role app may not create tables in the schema public of the database till. Run `GRANT CREATE ON SCHEMA public TO app` as its owner, or name the role that owns the tables in DATABASE_MIGRATE_URL.',
    ],
    [
      'a database without a schema for the role',
      judgeRights({ ...RIGHTS, schema: null, mayCreate: false }),
      'fault: The role app may not create tables in the database till. Run `CREATE SCHEMA AUTHORIZATION app` as its owner, or name the role that owns the tables in DATABASE_MIGRATE_URL.',
    ],
    [
      'an extension that the role may not create',
      judgeRights({ ...RIGHTS, mayExtend: false }),
      'fault: The extension pg_trgm is missing in the database till, and the role app may not create it. Run `CREATE EXTENSION pg_trgm` in the database as a superuser.',
    ],
    [
      'a server without the files of the extension',
      judgeRights({ ...RIGHTS, trigrams: 'unavailable' }),
      'fault: The server does not have the extension pg_trgm. Install the package of PostgreSQL with its extensions, on Debian postgresql-contrib.',
    ],
    ['a public URL that leads here', judgePublicUrl(HERE, WHERE), undefined],
    [
      'a public URL without a server',
      judgePublicUrl({ is: 'silent', reason: 'ECONNREFUSED' }, WHERE),
      'warning: Nothing answers at PUBLIC_URL (https://till.example.com) yet: ECONNREFUSED. Let its name and its proxy lead to 127.0.0.1:8080, then run `till init` again: it asks once more.',
    ],
    [
      'a proxy that does not reach this machine',
      judgePublicUrl({ is: 'proxy_alone', status: 502 }, WHERE),
      'warning: The proxy of PUBLIC_URL (https://till.example.com) answers with status 502: it does not reach 127.0.0.1:8080. Let it lead to 127.0.0.1:8080, or set HOST to an address that it reaches; then run `till init` again.',
    ],
    [
      'a public URL with another program',
      judgePublicUrl({ is: 'elsewhere', status: 404, location: undefined }, WHERE),
      'fault: PUBLIC_URL (https://till.example.com) leads elsewhere: another program answers there, with status 404. Set PUBLIC_URL to the origin whose proxy leads to 127.0.0.1:8080, or let this one lead there.',
    ],
    [
      'a public URL that redirects',
      judgePublicUrl({ is: 'elsewhere', status: 301, location: 'https://www.example.com' }, WHERE),
      'fault: PUBLIC_URL (https://till.example.com) leads elsewhere: it leads to https://www.example.com. Set PUBLIC_URL to the origin whose proxy leads to 127.0.0.1:8080, or let this one lead there.',
    ],
    ['a proxy that is trusted', judgeProxy(HERE, (peer) => peer === '10.0.0.5'), undefined],
    ['no proxy', judgeProxy({ ...HERE, hasForwardedFor: false }, () => false), undefined],
    [
      'a proxy that is not trusted',
      judgeProxy(HERE, () => false),
      'warning: Requests to PUBLIC_URL come through a proxy at 10.0.0.5, which TRUST_PROXY does not name: all payers share its rate limit. Add 10.0.0.5 to TRUST_PROXY.',
    ],
  ];
  for (const [title, findings, expected] of rows) {
    it(`says what to do about ${title}`, () => {
      assert.deepEqual(findings.map(line), expected === undefined ? [] : [expected]);
    });
  }

  it('finds out whether the public URL leads to this gateway', () => {
    const { publicUrl } = WHERE;
    const facts = [
      null,
      { publicUrl, answer: HERE },
      { publicUrl, answer: { is: 'proxy_alone', status: 502 } as const },
    ];
    assert.deepEqual(
      facts.flatMap((each) => judgeOwnUrl(each).facts),
      [
        { name: 'PUBLIC_URL', value: 'not set' },
        { name: publicUrl, value: 'leads to this gateway' },
        { name: publicUrl, value: 'does not lead to this gateway' },
      ],
    );
  });
});
