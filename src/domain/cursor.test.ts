import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { openCursor, sealCursor } from './cursor.ts';

const [KEY, OLD_KEY] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
const QUERY = 'partner=1&order=newest';

describe('a cursor', () => {
  it('is opened again by the query that it was made for, and by no other', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 40 }), { maxLength: 4 }), (position) => {
        const cursor = sealCursor([KEY], QUERY, position);
        assert.match(cursor, /^[\w-]+$/);
        assert.deepEqual(openCursor([KEY], QUERY, cursor), position);
        assert.equal(openCursor([KEY], `${QUERY}&`, cursor), undefined);
        assert.equal(openCursor([OLD_KEY], QUERY, cursor), undefined);
      }),
    );
  });

  it('stays valid after a new key, and is then made with the new one', () => {
    const old = sealCursor([OLD_KEY], QUERY, ['7']);
    assert.deepEqual(openCursor([KEY, OLD_KEY], QUERY, old), ['7']);
    assert.equal(sealCursor([KEY, OLD_KEY], QUERY, ['7']), sealCursor([KEY], QUERY, ['7']));
  });

  it('shows neither the position nor its length', () => {
    const cursors = ['1', '12345', '1234567890'].map((position) => sealCursor([KEY], QUERY, [position]));
    assert.deepEqual(
      cursors.map((cursor) => Buffer.from(cursor, 'base64url').length),
      [32, 32, 32],
    );
    for (const cursor of cursors) assert.doesNotMatch(Buffer.from(cursor, 'base64url').toString('latin1'), /\["1/);
    assert.equal(Buffer.from(sealCursor([KEY], QUERY, ['x'.repeat(13)]), 'base64url').length, 48);
  });

  it('cannot be altered in any bit, nor spelled in another way', () => {
    const cursor = sealCursor([KEY], QUERY, ['7']);
    const bytes = Buffer.from(cursor, 'base64url');
    for (let bit = 0; bit < 8 * bytes.length; bit += 1) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assert.equal(openCursor([KEY], QUERY, changed.toString('base64url')), undefined);
    }
    const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const sameBytes = cursor.slice(0, -1) + digits.charAt(digits.indexOf(cursor.at(-1) ?? '') + 1);
    assert.deepEqual(Buffer.from(sameBytes, 'base64url'), bytes);
    assert.equal(openCursor([KEY], QUERY, sameBytes), undefined);
    for (const wrong of [`${cursor}=`, `${cursor} `, ` ${cursor}`, `${cursor}A`, cursor.slice(0, -1), '']) {
      assert.equal(openCursor([KEY], QUERY, wrong), undefined, wrong);
    }
  });

  it('of an earlier version is readable text behind its MAC, and stays valid', () => {
    const payload = Buffer.from('["7"]');
    const mac = createHmac('sha256', KEY).update(QUERY).update('\0').update(payload).digest().subarray(0, 16);
    assert.deepEqual(openCursor([KEY], QUERY, Buffer.concat([mac, payload]).toString('base64url')), ['7']);
    const ofNothing = createHmac('sha256', KEY).update(QUERY).update('\0').digest().subarray(0, 16);
    assert.equal(openCursor([KEY], QUERY, ofNothing.toString('base64url')), undefined, 'a MAC alone is none');
  });

  it('is short', () => {
    const longest = sealCursor([KEY], QUERY, ['x'.repeat(748)]);
    assert.equal(longest.length, 1_024);
    assert.ok(openCursor([KEY], QUERY, longest));
    const longer = sealCursor([KEY], QUERY, ['x'.repeat(749)]);
    assert.ok(longer.length > 1_024);
    assert.equal(openCursor([KEY], QUERY, longer), undefined);
  });
});
