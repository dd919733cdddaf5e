import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { coolingOffMs, SLOW_ADDRESS } from './cooling-off.ts';
import { readConfig } from './read-config.ts';

const ACCOUNT = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const LIVE = { RPC_URLS: 'eip155:1=https://a.example', FEE_ACCOUNT: ACCOUNT, INTERMEDIATE_ACCOUNT: ACCOUNT };
const HOUR_MS = 3_600_000;

function periodsOf(environment: Record<string, string>, address = ACCOUNT) {
  const read = readConfig(environment);
  assert.ok('config' in read);
  return (['live', 'test'] as const).map((mode) => coolingOffMs(read.config, mode, { address }) / HOUR_MS);
}

describe('the cooling-off period', () => {
  it('is a day for live merchants, and none for test merchants and in the sandbox', () => {
    assert.deepEqual(periodsOf(LIVE), [24, 0]);
    assert.deepEqual(periodsOf({}), [0, 0]);
  });

  it('can be rehearsed in the sandbox, with an account of its own', () => {
    assert.deepEqual(periodsOf({}, SLOW_ADDRESS), [24, 24]);
    assert.deepEqual(periodsOf(LIVE, SLOW_ADDRESS), [24, 0]);
  });

  it('is what the operator has set, for all merchants', () => {
    assert.deepEqual(periodsOf({ ...LIVE, DESTINATION_COOLING_OFF_HOURS: '48' }), [48, 48]);
    assert.deepEqual(periodsOf({ ...LIVE, DESTINATION_COOLING_OFF_HOURS: '0' }), [0, 0]);
  });
});
