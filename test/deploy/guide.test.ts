import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { missingProgram, programPath } from '../debian-program.ts';

const ROOT = join(import.meta.dirname, '../..');
const KUBECTL = { names: ['kubectl'], debianPackage: 'kubernetes-client' };

/** Commands of the guide that other tests run, with the test. */
const RUN_ELSEWHERE: readonly (readonly [RegExp, string])[] = [
  [/\/deploy\/update( --to \S+| --back)?$/, 'test/deploy/update.test.ts'],
  [/^node_modules\/\.bin\/node deploy\/image\/(make-root|write-oci)\.ts /, 'test/deploy/image.test.ts'],
  [/^systemd-analyze security /, 'test/deploy/units.test.ts'],
  [/^npm run till -- init --file /, 'test/e2e/from-empty-server.test.ts'],
  [/^npm run guides/, 'test/docs/built-guides.test.ts'],
  [/^npm (ci|prune --omit=dev)$/, 'test/e2e/production-install.test.ts'],
];
/** Commands for engines that do not run where the tests run. The guide says so at its end. */
const NOT_RUN = /^(docker (buildx|run|compose) |kubectl (create|apply|--namespace) |systemctl |useradd )/;

describe('the guide to deploying', () => {
  let guide: string;
  let commands: string[];
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'till-guide-'));
    guide = await readFile(join(ROOT, 'docs/deploying.md'), 'utf8');
    commands = [...guide.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block = '']) => block.trim().split('\n'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('names commands that a test runs, and says of the others that no test does', () => {
    const runHere = /^(cd|mkdir|cp|ln) |--help$|^kubectl kustomize |^npm run sbom$/;
    const unknown = commands.filter(
      (line) => !runHere.test(line) && !NOT_RUN.test(line) && !RUN_ELSEWHERE.some(([pattern]) => pattern.test(line)),
    );
    assert.ok(commands.length > 25);
    assert.deepEqual(unknown, []);
    for (const [pattern, test] of RUN_ELSEWHERE) {
      assert.ok(existsSync(join(ROOT, test)), test);
      assert.ok(
        commands.some((line) => pattern.test(line)),
        `${pattern} is in the guide`,
      );
    }
    const end = guide.slice(guide.indexOf('## What was tested'));
    for (const words of ['`docker build`', 'the services under systemd', 'containers', 'a cluster'])
      assert.ok(end.includes(words));
  });

  it('copies files that are there, to folders as it says', async () => {
    for (const line of commands.filter((each) => each.startsWith('cp '))) {
      const target = join(folder, 'etc');
      await mkdir(target, { recursive: true });
      execFileSync('cp', [...line.split(' ').slice(1, -1), target], { cwd: ROOT });
    }
    assert.ok(existsSync(join(folder, 'etc/till@.service')));
  });

  it('has the help of deploy/update, which needs a folder of nodes', async () => {
    const run = (...args: string[]) =>
      spawnSync(join(ROOT, 'deploy/update'), args, { encoding: 'utf8', env: { ...process.env, TILL_ROOT: folder } });
    assert.match(run('--help').stderr, /There is no folder .*nodes/);
    await mkdir(join(folder, 'nodes'), { recursive: true });
    const { status, stdout } = run('--help');
    assert.equal(status, 0);
    for (const flag of stdout.matchAll(/^ {2}(--[a-z-]+)/gm)) assert.ok(guide.includes(flag[1] ?? ''), flag[1]);
    assert.equal(run('--nonsense').status, 2);
    assert.match(run('--to', '/nowhere').stderr, /There is no folder \/nowhere\./);
  });

  it('prints the manifests', { skip: missingProgram(KUBECTL) }, () => {
    for (const line of commands.filter((each) => each.startsWith('kubectl kustomize '))) {
      const printed = execFileSync(programPath(KUBECTL) ?? '', line.split(' ').slice(1), {
        cwd: ROOT,
        encoding: 'utf8',
      });
      assert.match(printed, /^kind: Deployment$/m);
    }
  });

  it('writes the software bill of materials that the image has', () => {
    const { scripts } = JSON.parse(execFileSync('cat', [join(ROOT, 'package.json')], { encoding: 'utf8' }));
    const [program, ...args] = scripts.sbom.replace(/ > .*/, '').split(' ');
    const bill = JSON.parse(execFileSync(program, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1e8 }));
    assert.equal(bill.bomFormat, 'CycloneDX');
    const names: string[] = bill.components.map(({ name }: { name: string }) => name);
    assert.ok(names.includes('fastify') && !names.includes('typescript'));
  });
});
