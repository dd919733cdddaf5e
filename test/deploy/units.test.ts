import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { missingProgram, programPath } from '../debian-program.ts';
import { checkConfiguration, missingHaproxy } from '../haproxy.ts';

const FOLDER = join(import.meta.dirname, '../../deploy/systemd');
const ANALYZE = { names: ['systemd-analyze'], debianPackage: 'systemd' };
const UNITS = ['till@.service', 'till-haproxy.service'];
/** Exposure in tenths, from 0 to 100. */
const MOST = 20;

describe('the units of systemd', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'till-units-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));
  const analyze = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(programPath(ANALYZE) ?? '', args, { encoding: 'utf8', cwd: folder });
    return { status, said: stdout + stderr };
  };
  const exposure = (path: string) => analyze('security', '--offline=true', `--threshold=${MOST}`, path);

  it('leave the gateway and HAProxy an exposure of at most 2.0', { skip: missingProgram(ANALYZE) }, async () => {
    for (const unit of UNITS) {
      const { status, said } = exposure(join(FOLDER, unit));
      assert.equal(status, 0, said);
      assert.match(said, /Overall exposure level for \S+: [01]\.\d OK/);
    }
    const open = join(folder, 'open.service');
    const text = await readFile(join(FOLDER, 'till@.service'), 'utf8');
    await writeFile(open, text.replace(/^(CapabilityBoundingSet|SystemCallFilter|RestrictNamespaces)=.*$/gm, ''));
    assert.equal(exposure(open).status, 1, 'a unit without these lines is refused');
  });

  it('have only lines that systemd knows', { skip: missingProgram(ANALYZE) }, async () => {
    // Its programs are not installed where the tests run, and other units of this machine are none of ours.
    for (const unit of [...UNITS, 'till.target']) {
      const text = await readFile(join(FOLDER, unit), 'utf8');
      const runnable = text.replace(/^ExecStart=\S+/m, 'ExecStart=/bin/true').replace(/^WorkingDirectory=.*$/m, '');
      await writeFile(join(folder, unit.replace('@', '@1')), runnable);
    }
    await copyFile(join(folder, 'till@1.service'), join(folder, 'till@2.service'));
    const { said } = analyze('verify', '--man=no', join(folder, 'till.target'));
    assert.doesNotMatch(said, /till/, said);
    await writeFile(join(folder, 'wrong.service'), '[Service]\nExecStart=/bin/true\nProtectSytem=strict\n');
    assert.match(analyze('verify', '--man=no', join(folder, 'wrong.service')).said, /ProtectSytem/);
  });

  it('start HAProxy with the configuration of the documentation', { skip: missingHaproxy() }, async () => {
    const text = await readFile(join(FOLDER, 'haproxy.env'), 'utf8');
    const settings = Object.fromEntries(
      text.split('\n').flatMap((line) => {
        const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(line) ?? [];
        return name === '' || name === 'TILL_CERTIFICATE' ? [] : [[name, value]];
      }),
    );
    assert.deepEqual(Object.keys(settings), ['TILL_LISTEN', 'TILL_STATUS', 'TILL_NODE_1', 'TILL_NODE_2']);
    assert.equal(checkConfiguration(settings), '');
  });
});
