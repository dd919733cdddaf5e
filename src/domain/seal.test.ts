import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { idBytes, newId, refundIdOf } from './ids.ts';
import type { KeyRing } from './key-ring.ts';
import { encryptIds, openSeal, sealedIds, sealOf } from './seal.ts';

const OLD = new Uint8Array(32).fill(1);
const NEW = new Uint8Array(32).fill(2);
const KEYS: KeyRing = [NEW, OLD];
const TERMS = '["collector",31337]';

const anId = fc
  .tuple(fc.nat(2 ** 40), fc.uint8Array({ minLength: 10, maxLength: 10 }))
  .map(([at, random]) => newId('pay_', at, random));

describe('the seal of an item', () => {
  it('has 32 bytes, and gives its id back for the same terms alone', () => {
    fc.assert(
      fc.property(anId, fc.string(), fc.string(), (id, terms, other) => {
        const seal = sealOf(KEYS, { id, terms });
        assert.match(seal, /^[0-9a-f]{64}$/);
        assert.equal(openSeal(KEYS, seal, terms), id);
        if (other !== terms) assert.equal(openSeal(KEYS, seal, other), undefined);
        assert.ok(!seal.includes(Buffer.from(idBytes(id)).toString('hex')));
      }),
    );
  });

  it('shows the same half for an id that is encrypted alone or with others', () => {
    fc.assert(
      fc.property(fc.array(anId, { maxLength: 5 }), (ids) => {
        const alone = ids.flatMap((id) => encryptIds(KEYS, [id]));
        assert.deepEqual(encryptIds(KEYS, ids), alone);
        for (const [index, id] of ids.entries()) {
          assert.ok(sealOf(KEYS, { id, terms: TERMS }).startsWith(alone[index] ?? 'none'));
        }
      }),
    );
  });

  it('distinguishes refunds from payments', () => {
    const id = refundIdOf(newId('pay_', 5, new Uint8Array(10)), 3);
    assert.equal(openSeal(KEYS, sealOf(KEYS, { id, terms: TERMS }), TERMS), id);
  });

  it('opens with no other key, and not with a half of another seal', () => {
    const [id, other] = [1, 2].map((time) => newId('pay_', time, new Uint8Array(10))) as [string, string];
    const [seal, strange] = [id, other].map((each) => sealOf([NEW], { id: each, terms: TERMS })) as [string, string];
    assert.equal(openSeal([OLD], seal, TERMS), undefined);
    assert.equal(openSeal([NEW], seal.slice(0, 32) + strange.slice(32), TERMS), undefined);
    for (const broken of ['', seal.slice(2), seal.toUpperCase(), `${seal}00`]) {
      assert.equal(openSeal([NEW], broken, TERMS), undefined);
    }
  });

  it('keeps the generation of the stored half, and opens after a rotation', () => {
    const id = newId('pay_', 7, new Uint8Array(10));
    const [stored] = encryptIds([OLD], [id]);
    const seal = sealOf(KEYS, { id, stored, terms: TERMS });
    assert.equal(seal, sealOf([OLD], { id, terms: TERMS }));
    assert.equal(openSeal(KEYS, seal, TERMS), id);
    assert.deepEqual(sealedIds(KEYS, id), [...encryptIds([NEW], [id]), stored]);
  });

  it('is made anew if the generation of the stored half is not at hand', () => {
    const id = newId('pay_', 8, new Uint8Array(10));
    const seal = sealOf([NEW], { id, stored: encryptIds([OLD], [id])[0], terms: TERMS });
    assert.equal(openSeal([NEW], seal, TERMS), id);
  });
});
