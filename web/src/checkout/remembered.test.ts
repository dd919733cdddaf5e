import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createMemory } from './remembered.ts';

function store(entries: Record<string, string> = {}): () => Storage {
  const kept = new Map(Object.entries(entries));
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, text: string) => kept.set(key, text),
  };
  return () => storage as unknown as Storage;
}
const forbidden = (): Storage => {
  throw new DOMException('no', 'SecurityError');
};
const PENDING = { optionId: 'o', results: ['0x1'], txId: null };

describe('the memory of the page', () => {
  it('knows the last choice, and unfinished payments', () => {
    const stores = { local: store(), session: store() };
    const memory = createMemory(stores);
    memory.rememberChoice({ unit: 'u', wallet: 'w' });
    memory.rememberPending('pay_1', PENDING);
    memory.rememberLeft('pay_1');
    const later = createMemory(stores);
    assert.deepEqual([later.lastUnit, later.lastWallet], ['u', 'w']);
    assert.deepEqual(later.pending('pay_1'), PENDING);
    assert.equal(later.pending('pay_2'), null);
    assert.equal(later.hasLeft('pay_1'), true);
    later.forgetPending('pay_1');
    assert.equal(later.pending('pay_1'), null);
  });

  it('forgets the oldest of many', () => {
    const memory = createMemory({ local: store(), session: store() });
    for (let index = 0; index < 20; index += 1) memory.rememberPending(`pay_${index}`, PENDING);
    assert.equal(memory.pending('pay_0'), null);
    assert.deepEqual(memory.pending('pay_19'), PENDING);
  });

  it('is merely bad where storage is forbidden or full of nonsense', () => {
    const nonsense = store({ 'till.choice': '{', 'till.pending': '[1,["pay_1",{"optionId":3}]]', 'till.left': '7' });
    for (const local of [forbidden, nonsense]) {
      const memory = createMemory({ local, session: local });
      memory.rememberLeft('x');
      assert.equal(memory.lastUnit, null);
      assert.equal(memory.pending('pay_1'), null);
    }
  });
});
