import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { returnTextOf } from './late-money.ts';

describe('the text of late money', () => {
  it('tells payers to ask as long as the return of some money was not requested', () => {
    assert.equal(returnTextOf(['unclaimed']), 'lateText');
    assert.equal(returnTextOf(['returned', 'unclaimed', 'requested']), 'lateText');
    assert.equal(returnTextOf(['requested']), 'lateReturning');
    assert.equal(returnTextOf(['returned', 'returning']), 'lateReturning');
    assert.equal(returnTextOf(['returned', 'returned']), 'lateReturned');
  });
});
