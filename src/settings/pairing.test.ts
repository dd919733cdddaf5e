import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from './read-config.ts';

function problemsOf(environment: Record<string, string>): readonly string[] {
  const result = readConfig(environment);
  return 'problems' in result ? result.problems : [];
}

describe('settings of pairing', () => {
  it('take the published relay, another one, and one of this machine', () => {
    const read = readConfig({ WALLETCONNECT_PROJECT_ID: 'ab'.repeat(16) });
    assert.ok('config' in read);
    assert.equal(read.config.walletConnectRelayUrl, 'wss://relay.walletconnect.org');
    for (const url of [
      'wss://relay.example.com',
      'wss://relay.example.com:8443',
      'ws://127.0.0.1:8000',
      'ws://[::1]:8000',
    ])
      assert.deepEqual(problemsOf({ WALLETCONNECT_RELAY_URL: url }), [], url);
  });

  for (const url of [
    'ws://relay.example.com',
    'https://relay.example.com',
    'wss://relay.example.com/v1',
    'wss://user:word@relay.example.com',
    "wss://relay.example.com; script-src 'unsafe-inline'",
    'wss://*.example.com',
    'wss://relay;x.example.com',
    '*',
  ]) {
    it(`refuse ${url} as the relay, which becomes part of a policy`, () => {
      assert.match(
        problemsOf({ WALLETCONNECT_RELAY_URL: url })[0] ?? '',
        /^WALLETCONNECT_RELAY_URL must be a wss origin/,
      );
    });
  }

  for (const id of ['', 'AB'.repeat(16), 'ab', `${'ab'.repeat(16)}"`]) {
    it(`take ${JSON.stringify(id)} for no project`, () => {
      const result = readConfig({ WALLETCONNECT_PROJECT_ID: id });
      assert.ok(!('config' in result) || result.config.walletConnectProjectId === undefined);
    });
  }
});
