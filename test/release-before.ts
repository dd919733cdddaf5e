/**
 * The commit of the version before this one, whose nodes may still run when the first node of this version migrates the database.
 * Raise it when a version is released, and when a version in use has migrations that this commit does not have.
 */
export const RELEASE_BEFORE = '4364bd743db34c0bd15065a5f6c4230566ce7b5c';

/**
 * Tests of that version that must pass on today's schema: its nodes accept, send, follow, lose and find transactions there, by their own
 * statements.
 */
export const ITS_TESTS = [
  'test/e2e/relay.test.ts',
  'test/e2e/relay-nodes.test.ts',
  'test/e2e/former-relayers.test.ts',
  'test/e2e/watch.test.ts',
  'test/e2e/refunds-on-chain.test.ts',
] as const;
