import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type ReportedSlots, weighSlots } from './quorum.ts';
import { isOutside, placeSlots, SLOT_REACH, withFinal } from './slots.ts';

/** The answers of endpoints; undefined for one without an answer. */
function reported(...answers: readonly (number | undefined)[]): ReportedSlots {
  const statements = answers.map((answer, index) => ({ by: `endpoint ${index + 1}`, answer, silentForMs: 0 }));
  return weighSlots(statements, { endpoints: answers.length, isTrustedAlone: false });
}

/** Slots up to 9 are final, and up to 12 taken. */
const JOURNAL = { last: 12, lastFinal: 9 };

describe('the place of a signer in its journal', () => {
  for (const [name, answer, expected] of [
    ['two endpoints agree', [11, 11], { used: 11, reopenFrom: undefined, mayTake: true }],
    ['one of two is a block behind', [10, 12], { used: 10, reopenFrom: undefined, mayTake: true }],
    ['one of two counts too many', [11, 1_000_000_011], { used: 11, reopenFrom: undefined, mayTake: true }],
    ['one of two counts none', [0, 11], { used: 10, reopenFrom: undefined, mayTake: true }],
    ['one of three counts too many', [11, 400, 12], { used: 12, reopenFrom: undefined, mayTake: true }],
    ['one of three counts none', [11, 0, 12], { used: 11, reopenFrom: undefined, mayTake: true }],
    ['two count transactions that are not ours', [20, 20], { used: 20, reopenFrom: undefined, mayTake: true }],
    ['two have lost final transactions', [7, 8], { used: 8, reopenFrom: 8, mayTake: true }],
    ['only one answers, within the journal', [11, undefined], { used: 11, reopenFrom: undefined, mayTake: true }],
    ['only one answers, too low', [3, undefined], { used: 10, reopenFrom: undefined, mayTake: true }],
    ['only one answers, too high', [14, undefined], { used: 10, reopenFrom: undefined, mayTake: false }],
  ] as const) {
    it(`is clear when ${name}`, () => assert.deepEqual(placeSlots(reported(...answer), JOURNAL), expected));
  }

  it('is unknown without an answer, and at the first slot by one answer', () => {
    assert.equal(placeSlots(reported(undefined, undefined), JOURNAL), undefined);
    assert.equal(placeSlots(reported(5, undefined), { last: undefined, lastFinal: undefined }), undefined);
    assert.equal(placeSlots(reported(5, 5), { last: undefined, lastFinal: undefined })?.used, 5);
    const first = { last: 0, lastFinal: undefined };
    assert.deepEqual(placeSlots(reported(0, 0), first), { used: 0, reopenFrom: undefined, mayTake: true });
    assert.ok(!isOutside(reported(0), first), 'nothing is mined yet');
  });

  it('may be taken up to the slot after the last of the journal, by one answer', () => {
    const placed = (answer: number) => placeSlots(reported(answer, undefined), JOURNAL);
    assert.deepEqual(placed(13), { used: 13, reopenFrom: undefined, mayTake: true });
    assert.deepEqual(placed(14)?.mayTake, false);
    assert.ok(isOutside(reported(9), JOURNAL), 'a final transaction is not mined');
  });

  it('follows the only endpoint out of the journal if a final block shows the same', () => {
    const sole = reported(20);
    assert.ok(sole.isAlone && isOutside(sole, JOURNAL) && isOutside(reported(0), JOURNAL));
    assert.ok(!isOutside(reported(13), JOURNAL) && !isOutside(reported(10), JOURNAL));
    assert.equal(placeSlots(withFinal(sole, 20), JOURNAL)?.used, 20);
    assert.equal(placeSlots(withFinal(reported(undefined), 11), JOURNAL)?.used, 11, 'the final block alone');
    assert.equal(placeSlots(withFinal(sole, 11), JOURNAL)?.used, 11, 'wrong once');
    assert.equal(placeSlots(withFinal(reported(0), 10), JOURNAL)?.reopenFrom, undefined, 'wrong once');
    assert.equal(placeSlots(withFinal(reported(8), 8), JOURNAL)?.reopenFrom, 8);
  });

  it('is never moved by one liar of three, whatever it says', () => {
    const slot = fc.nat(40);
    fc.assert(
      fc.property(slot, slot, fc.maxSafeNat(), fc.nat(2), (mined, ahead, lie, place) => {
        const journal = { last: mined + ahead, lastFinal: mined - 1 };
        const answers = [mined, mined];
        answers.splice(place, 0, lie);
        assert.deepEqual(placeSlots(reported(...answers), journal), {
          used: mined,
          reopenFrom: undefined,
          mayTake: true,
        });
      }),
    );
  });

  it('has a reach beyond everything that is in flight', () => assert.ok(SLOT_REACH >= 4 * 16));
});
