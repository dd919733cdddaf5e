import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Diagnosis } from '../../../domain/doctor/diagnosis.ts';
import { shareExamination } from './share-examination.ts';

const WELL: Diagnosis = { level: 'well', sections: [] };

function scene() {
  let nowMs = 1_000_000;
  const asked: PromiseWithResolvers<Diagnosis>[] = [];
  const examine = () => {
    const next = Promise.withResolvers<Diagnosis>();
    asked.push(next);
    return next.promise;
  };
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { ask: shareExamination({ clock: { nowMs: () => nowMs }, examine }), asked, pass };
}

describe('shared examinations', () => {
  it('answer callers at the same time by one examination, and callers of the next seconds, too', async () => {
    const { ask, asked, pass } = scene();
    const both = [ask(), ask()];
    assert.equal(asked.length, 1);
    pass(5_000);
    asked[0]?.resolve(WELL);
    const [first, second] = await Promise.all(both);
    assert.equal(first, second);
    assert.equal(first?.endedAt.getTime(), 1_005_000);
    pass(19_999);
    assert.equal(await ask(), first);
    pass(1);
    const later = ask();
    asked[1]?.resolve({ ...WELL, level: 'fault' });
    assert.equal((await later).level, 'fault');
    assert.equal(asked.length, 2);
  });

  it('are asked again after a failure, and after the clock was set back', async () => {
    const { ask, asked, pass } = scene();
    const failing = ask();
    asked[0]?.reject(new Error('no'));
    await assert.rejects(failing, /no/);
    const well = ask();
    asked[1]?.resolve(WELL);
    await well;
    pass(-60_000);
    void ask();
    assert.equal(asked.length, 3);
  });
});
