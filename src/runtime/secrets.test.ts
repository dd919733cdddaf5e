import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createSecrets, WrongSecretError } from './secrets.ts';

const OLD = new Uint8Array(32).fill(1);
const NEW = new Uint8Array(32).fill(2);
const SEED = new Uint8Array(32).fill(3);

describe('a master secret', () => {
  it('gives each purpose a key of its own, the same at every call', () => {
    const { derive } = createSecrets([OLD]);
    assert.equal(derive('option').length, 32);
    assert.deepEqual(derive('option'), createSecrets([OLD]).derive('option'));
    assert.notDeepEqual(derive('option'), derive('cursor'));
    assert.notDeepEqual(derive('option'), createSecrets([NEW]).derive('option'));
  });

  it('must be long enough not to be guessed', () => {
    assert.throws(() => createSecrets([]), /32 bytes/);
    assert.throws(() => createSecrets([OLD, new Uint8Array(31)]), /32 bytes/);
  });

  it('wraps a secret so that only the same master secret and purpose unwrap it', () => {
    const secrets = createSecrets([OLD]);
    const wrapped = secrets.wrap('receipt', SEED);
    assert.deepEqual(new Uint8Array(secrets.unwrap('receipt', wrapped)), SEED);
    assert.ok(!Buffer.from(wrapped.split('.')[1] ?? '', 'base64url').includes(Buffer.from(SEED)));
    assert.throws(() => secrets.unwrap('webhook', wrapped), WrongSecretError);
    assert.throws(() => createSecrets([NEW]).unwrap('receipt', wrapped), WrongSecretError);
  });

  it('notices every change of a wrapped secret', () => {
    const secrets = createSecrets([OLD]);
    const wrapped = secrets.wrap('receipt', SEED);
    fc.assert(
      fc.property(fc.nat(wrapped.length - 1), fc.constantFrom(...'AZaz09-_'), (at, letter) => {
        const altered = wrapped.slice(0, at) + letter + wrapped.slice(at + 1);
        if (altered === wrapped) return;
        assert.throws(() => secrets.unwrap('receipt', altered), WrongSecretError);
      }),
    );
    for (const text of ['', '.', wrapped.slice(0, 20), 'A'.repeat(100)]) {
      assert.throws(() => secrets.unwrap('receipt', text), WrongSecretError);
    }
  });

  it('is rotated by naming two: the newest wraps and derives, both read', () => {
    const [old, both, renewed] = [createSecrets([OLD]), createSecrets([NEW, OLD]), createSecrets([NEW])];
    assert.deepEqual(new Uint8Array(both.unwrap('receipt', old.wrap('receipt', SEED))), SEED);
    assert.deepEqual(new Uint8Array(renewed.unwrap('receipt', both.wrap('receipt', SEED))), SEED);
    assert.deepEqual(both.derive('option'), renewed.derive('option'));
    assert.deepEqual(both.deriveEach('option'), [renewed.derive('option'), old.derive('option')]);
  });
});
