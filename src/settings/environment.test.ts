import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';

const MODULE = JSON.stringify(join(import.meta.dirname, 'environment.ts'));

/** The environment as a program reads it that is started in a folder with these files. */
async function readIn(context: TestContext, files: Readonly<Record<string, string | null>>) {
  const cwd = await mkdtemp(join(tmpdir(), 'till-environment-'));
  context.after(() => rm(cwd, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    if (text === null) await mkdir(join(cwd, name));
    else await writeFile(join(cwd, name), text);
  }
  const code = `
    import { readEnvironment } from ${MODULE};
    try { console.log(JSON.stringify(readEnvironment())); } catch (error) { console.log(JSON.stringify(error.message)); }`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd,
    env: { PORT: '1' },
    encoding: 'utf8',
  });
  assert.equal(stderr, '');
  return JSON.parse(stdout);
}

describe('the environment of a node and of commands', () => {
  it('comes before the file of the set-up, which comes before .env', async (context) => {
    const files = { 'till.env': 'PORT=2\nHOST=two\n', '.env': 'PORT=3\nHOST=three\nLOG_LEVEL=warn\n' };
    const { PORT, HOST, LOG_LEVEL } = await readIn(context, files);
    assert.deepEqual({ PORT, HOST, LOG_LEVEL }, { PORT: '1', HOST: 'two', LOG_LEVEL: 'warn' });
  });

  it('says which file cannot be read', async (context) => {
    const message = await readIn(context, { 'till.env': null });
    assert.match(message, /^the file till\.env of this folder cannot be read \(\w+\)\. Let the account/);
  });
});
