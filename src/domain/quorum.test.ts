import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { LONE_DEPTH_FACTOR, type Statement, weigh, weighHeights, weighSlots } from './quorum.ts';

const MINUTE_MS = 60_000;
const answering = <T>(answer: T | undefined, silentForMs = 0): Omit<Statement<T>, 'by'> => ({ answer, silentForMs });
const named = <T>(...statements: Omit<Statement<T>, 'by'>[]): Statement<T>[] =>
  statements.map((statement, index) => ({ by: `endpoint ${index + 1}`, ...statement }));
const rule = (endpoints: number, isTrustedAlone = false) => ({ endpoints, isTrustedAlone });

describe('a statement of endpoints', () => {
  it('counts when two say the same', () => {
    assert.deepEqual(weigh(named(answering('a'), answering('a')), rule(2)), {
      is: 'agreed',
      value: 'a',
      dissenters: [],
    });
    const outvoted = weigh(named(answering('b'), answering('a'), answering('a')), rule(3));
    assert.deepEqual(outvoted, { is: 'agreed', value: 'a', dissenters: ['endpoint 1'] });
  });

  it('is disputed when they differ and no two outvote the others', () => {
    assert.deepEqual(weigh(named(answering('a'), answering('b')), rule(2)), { is: 'disputed' });
    assert.deepEqual(weigh(named(answering('a'), answering('a'), answering('b'), answering('b')), rule(4)), {
      is: 'disputed',
    });
    const [one, , three] = named(answering('a'), answering(undefined, 9 * MINUTE_MS), answering('b'));
    assert.deepEqual(weigh([one, three] as Statement<string>[], rule(3)), { is: 'disputed' });
  });

  it('is open while the second of two has been silent for less than five minutes', () => {
    assert.deepEqual(weigh(named(answering('a'), answering(undefined, 5 * MINUTE_MS - 1)), rule(2)), { is: 'open' });
    assert.deepEqual(weigh(named(answering('a'), answering(undefined, 5 * MINUTE_MS)), rule(2)), {
      is: 'alone',
      value: 'a',
    });
  });

  it('counts from a single configured endpoint, and fully if that is our own chain', () => {
    assert.deepEqual(weigh(named(answering(true)), rule(1)), { is: 'alone', value: true });
    assert.deepEqual(weigh(named(answering(true)), rule(1, true)), { is: 'agreed', value: true, dissenters: [] });
    assert.deepEqual(weigh(named(answering(true), answering<boolean>(undefined)), rule(2, true)), { is: 'open' });
  });

  it('is never believed from one of three, however long the others are silent', () => {
    const silent = answering<string>(undefined, 60 * MINUTE_MS);
    assert.deepEqual(weigh(named(answering('a'), silent, silent), rule(3)), { is: 'open' });
    assert.deepEqual(weigh(named<string>(silent, silent), rule(2)), { is: 'open' });
  });

  it('is compared by a key where values have parts', () => {
    const statements = named(answering({ hash: '0x1', extra: 1 }), answering({ hash: '0x1', extra: 2 }));
    assert.equal(weigh(statements, rule(2), ({ hash }) => hash).is, 'agreed');
  });

  it('is agreed only if two endpoints say the same, whatever the others do', () => {
    const statements = fc.array(
      fc.record({ answer: fc.option(fc.nat(2), { nil: undefined }), silentForMs: fc.nat() }),
      {
        maxLength: 5,
      },
    );
    fc.assert(
      fc.property(statements, (given) => {
        const finding = weigh(named(...given), rule(given.length));
        if (finding.is !== 'agreed') return;
        assert.ok(given.filter(({ answer }) => answer === finding.value).length >= 2);
      }),
    );
  });
});

describe('the used slots of an account', () => {
  it('has the bounds that two endpoints give, and the highest answer, which proves nothing', () => {
    const reported = weighSlots(named(answering(9), answering(5), answering(7)), rule(3));
    assert.deepEqual(reported, { atLeast: 7, atMost: 7, soleCount: undefined, isAlone: false, highest: 9 });
  });

  it('by a single answer counts only if that endpoint may stand alone', () => {
    const single = (silentForMs: number) =>
      weighSlots(named(answering(5), answering<number>(undefined, silentForMs)), rule(2));
    assert.deepEqual([single(0).soleCount, single(0).isAlone, single(5 * MINUTE_MS).isAlone], [5, false, true]);
    assert.equal(weighSlots(named(answering(5)), rule(1)).isAlone, true);
    assert.equal(weighSlots(named(answering<number>(undefined)), rule(1)).isAlone, false, 'nobody has answered');
  });
});

describe('the height of a chain', () => {
  it('is the second highest, in whatever order endpoints answer', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { minLength: 2, maxLength: 6 }), (given) => {
        const { agreed } = weighHeights(named(...given.map((height) => answering(height))), rule(given.length));
        assert.equal(agreed, given.toSorted((a, b) => b - a)[1]);
      }),
    );
  });

  it('needs three times the depth by one endpoint alone, as its wait says', () => assert.equal(LONE_DEPTH_FACTOR, 3));

  it('is reached by two endpoints: a single one may claim any height', () => {
    assert.deepEqual(weighHeights(named(answering(1_000_000), answering(100)), rule(2)), {
      agreed: 100,
      alone: undefined,
    });
    assert.deepEqual(weighHeights(named(answering(7), answering(99), answering(100)), rule(3)), {
      agreed: 99,
      alone: undefined,
    });
  });

  it('is unknown, or that of the only endpoint, by the same rule as every fact', () => {
    assert.deepEqual(weighHeights(named(answering(9), answering<number>(undefined)), rule(2)), {
      agreed: undefined,
      alone: undefined,
    });
    const silent = answering<number>(undefined, 5 * MINUTE_MS);
    assert.deepEqual(weighHeights(named(answering(9), silent), rule(2)), { agreed: undefined, alone: 9 });
    assert.deepEqual(weighHeights(named(answering(9)), rule(1)), { agreed: undefined, alone: 9 });
    assert.deepEqual(weighHeights(named(answering(9)), rule(1, true)), { agreed: 9, alone: undefined });
  });
});
