import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { receiptKeyOf } from './receipt.ts';
import {
  auditHash,
  FIRST_AUDIT_HASH,
  HEAD_FORM,
  type Head,
  isSignedBy,
  readSignedHead,
  signHead,
} from './signed-head.ts';

const KEY = receiptKeyOf(new Uint8Array(32).fill(7));
const HEAD: Head = {
  ...{ form: HEAD_FORM, at: '2026-01-01T00:00:00.000Z' },
  books: [{ network: 'eip155:1', sequence: '12', hash: 'a'.repeat(64) }],
  auditLog: { lastId: '0', entries: '0', hash: 'b'.repeat(64) },
  subjectKeys: [{ id: 'k', wrapped: 'w' }],
};
const signed = signHead(KEY, HEAD);

describe('a signed head', () => {
  it('is signed by its key, and any change breaks it', () => {
    assert.ok(isSignedBy(KEY.publicJwk.x, signed));
    const [link] = HEAD.books;
    assert.ok(link !== undefined);
    const changes: readonly Partial<Head>[] = [
      { form: 'till-head/1' },
      { at: '2026-01-01T00:00:00.001Z' },
      { books: [] },
      ...[{ network: 'eip155:2' }, { sequence: '13' }, { hash: 'c'.repeat(64) }].map((change) => ({
        books: [{ ...link, ...change }],
      })),
      ...[{ lastId: '1' }, { entries: '1' }, { hash: 'c'.repeat(64) }].map((change) => ({
        auditLog: { ...HEAD.auditLog, ...change },
      })),
      { subjectKeys: [] },
      { subjectKeys: [{ id: 'l', wrapped: 'w' }] },
      { subjectKeys: [{ id: 'k', wrapped: 'x' }] },
    ];
    for (const change of changes) {
      assert.ok(!isSignedBy(KEY.publicJwk.x, { ...signed, head: { ...HEAD, ...change } }), JSON.stringify(change));
    }
    assert.ok(!isSignedBy(receiptKeyOf(new Uint8Array(32)).publicJwk.x, signed));
  });

  it('is read as it was written, in either form', () => {
    assert.deepEqual(readSignedHead(JSON.stringify(signed)), signed);
    const { subjectKeys: _, ...first } = HEAD;
    const old = signHead(KEY, { ...first, form: 'till-head/1' });
    assert.deepEqual(readSignedHead(JSON.stringify(old)), old);
  });

  it('is not read if a part of it is missing or has another form', () => {
    const read = (change: object) => readSignedHead(JSON.stringify({ ...signed, head: { ...HEAD, ...change } }));
    const audit = (change: object) => read({ auditLog: { ...HEAD.auditLog, ...change } });
    const book = (change: object) => read({ books: [{ ...HEAD.books[0], ...change }] });
    const wrong = [
      ...[
        read({ form: 'till-head/3' }),
        read({ form: 'till-head/1' }),
        read({ subjectKeys: undefined }),
        read({ at: 7 }),
      ],
      ...[read({ subjectKeys: [{ id: 1, wrapped: 'w' }] }), read({ subjectKeys: [{ id: 'k', wrapped: 1 }] })],
      ...[audit({ lastId: '' }), audit({ lastId: '1'.repeat(19) }), audit({ entries: 0 }), audit({ entries: '-1' })],
      ...[
        audit({ hash: 'b'.repeat(63) }),
        audit({ hash: 'B'.repeat(64) }),
        audit({ hash: 7 }),
        audit({ hash: 'b'.repeat(65) }),
      ],
      ...[book({ network: 1 }), book({ sequence: '1 ' }), book({ sequence: ' 1' }), book({ hash: '' })],
      ...[readSignedHead(JSON.stringify({ head: HEAD })), readSignedHead('{'), readSignedHead('null')],
      readSignedHead(JSON.stringify({ head: HEAD, signature: { ...signed.signature, value: 1 } })),
      readSignedHead(JSON.stringify({ head: HEAD, signature: { ...signed.signature, keyId: 1 } })),
    ];
    assert.deepEqual(
      wrong.map((each) => each === undefined),
      wrong.map(() => true),
    );
    assert.ok(audit({ lastId: '9'.repeat(18) }));
  });
});

describe('the chain of the audit log', () => {
  const row = {
    ...{ id: '1', at: '1', actor: 'a', action: 'b', subject: 'c', detail: '{}', origin: '{}' },
    ...{ databaseUser: null, databaseClient: null },
  };

  it('changes with every part of an entry, and with everything before it', () => {
    const others = Object.keys(row).map((name) => auditHash(FIRST_AUDIT_HASH, { ...row, [name]: 'other' }));
    const hashes = [...others, auditHash(FIRST_AUDIT_HASH, row), auditHash('0'.repeat(64), row)];
    assert.equal(new Set(hashes).size, hashes.length);
  });
});
