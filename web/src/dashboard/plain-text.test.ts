import assert from 'node:assert/strict';
import { it } from 'node:test';
import { plainText } from './plain-text.ts';

it('shortens hashes and accounts, and shows times as people write them', () => {
  const hash = `0x${'ab'.repeat(32)}`;
  const account = `eip155:31337:0x${'1'.repeat(40)}`;
  const text = `Transaction ${hash} of ${account} at 2026-11-16T09:06:18Z, reference "A-1".`;
  assert.equal(
    plainText(text, () => 'nine'),
    'Transaction 0xababab…ababab of 0x1111…1111 at \u2068nine\u2069, reference "A-1".',
  );
});
