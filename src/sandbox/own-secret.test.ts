import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { systemWorld } from '../runtime/system-world.ts';
import { readOwnSecret } from './own-secret.ts';

describe("a gateway's own master secret", () => {
  it('is made at the first start, kept, and readable for its owner alone', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'till-secret-'));
    const home = join(folder, 'home');
    try {
      const first = await readOwnSecret(systemWorld, home);
      assert.equal(Buffer.from(first, 'base64').length, 32);
      assert.equal(await readOwnSecret(systemWorld, home), first);
      assert.deepEqual(await readdir(home), ['secret']);
      assert.equal((await stat(join(home, 'secret'))).mode & 0o777, 0o600);
      assert.notEqual(await readOwnSecret(systemWorld, join(folder, 'other')), first);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
