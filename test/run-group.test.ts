import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

const RUN_GROUP = join(import.meta.dirname, 'run-group.ts');
const HEAD = `import { after, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
`;
const passing = (name: string) => `describe('${name}', () => it('passes', () => {}));\n`;

describe('a group of test files', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'till-group-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  function run(...texts: readonly string[]) {
    const files = texts.map((text, index) => {
      const file = join(folder, `${index}.test.mjs`);
      writeFileSync(file, HEAD + text);
      return file;
    });
    // A test of the group does not report to the runner of this test.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const { status, stdout } = spawnSync(process.execPath, [RUN_GROUP, ...files], { env, encoding: 'utf8' });
    return { status, stdout };
  }

  it('passes if all files pass, and ends although a timer is open', () => {
    const { status, stdout } = run(`${passing('one')}setInterval(() => {}, 1000);`, passing('two'));
    assert.equal(status, 0, stdout);
    assert.match(stdout, /✔ one.*✔ two.*ℹ pass 3\n/s);
  });

  it('ends when the hooks of its files have ended', () => {
    const { status, stdout } = run(
      `${passing('one')}after(async () => { await pause(50); process.stdout.write('cleaned up'); });`,
      passing('two'),
    );
    assert.equal(status, 0, stdout);
    assert.match(stdout, /cleaned up/);
  });

  const FAILING = {
    'a test fails': `it('fails', () => { throw new Error('the reason'); });`,
    'a file does not load': `throw new Error('the reason');`,
    'a file fails to load after its first test': `${passing('one')}throw new Error('the reason');`,
    'a hook of a file fails': `${passing('one')}after(() => { throw new Error('the reason'); });`,
    'a timer throws': `it('waits', async () => {
      setTimeout(() => { throw new Error('the reason'); }, 5);
      await pause(50);
    });`,
    'nobody handles a rejection': `it('waits', async () => {
      void pause(5).then(() => Promise.reject(new Error('the reason')));
      await pause(50);
    });`,
  };
  for (const [when, text] of Object.entries(FAILING)) {
    it(`fails if ${when}, and names the reason`, () => {
      const { status, stdout } = run(text, passing('other'));
      assert.equal(status, 1, stdout);
      assert.match(stdout, /the reason/);
      assert.match(stdout, /✔ other/);
    });
  }
});
