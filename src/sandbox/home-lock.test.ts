import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { HomeInUseError, lockHome } from './home-lock.ts';
import { processStart } from './os-process.ts';

let root: string;
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'till-lock-'));
});
after(() => rm(root, { recursive: true, force: true }));

test('creates a private folder, holds it, and leaves nothing behind when it gives it back', async () => {
  const home = join(root, 'new', 'home');
  const release = await lockHome(home);
  assert.equal((await stat(home)).mode & 0o777, 0o700);
  const holder = JSON.parse(await readFile(join(home, 'gateway.lock'), 'utf8'));
  assert.deepEqual(holder, { pid: process.pid, startedAt: await processStart(process.pid) });
  await release();
  assert.deepEqual(await readdir(home), []);
  await (await lockHome(home))();
});

test('a folder that exists keeps its permissions', async () => {
  const home = join(root, 'existing');
  await mkdir(home, { mode: 0o755 });
  await (await lockHome(home))();
  assert.equal((await stat(home)).mode & 0o777, 0o755);
});

test('names the folder, the process and the way out when a living gateway holds it', async () => {
  const home = join(root, 'held');
  const release = await lockHome(home);
  await assert.rejects(lockHome(home), (error: Error) => {
    assert.ok(error instanceof HomeInUseError);
    assert.equal(error.pid, process.pid);
    for (const part of [home, String(process.pid), 'TILL_HOME']) assert.ok(error.message.includes(part), error.message);
    return true;
  });
  await release();
});

const stale: readonly { readonly name: string; readonly lock: () => Promise<string> }[] = [
  { name: 'a process that has ended', lock: async () => JSON.stringify({ pid: await endedPid(), startedAt: '1' }) },
  { name: 'an earlier process with our id', lock: async () => JSON.stringify({ pid: process.pid, startedAt: '1' }) },
  { name: 'nobody, since it is empty', lock: async () => '' },
  { name: 'nobody, since it is not a lock at all', lock: async () => '{"pid":"x"}' },
];
for (const { name, lock } of stale) {
  test(`takes over the lock of ${name}`, async () => {
    const home = join(root, name.replaceAll(' ', '-'));
    await mkdir(home);
    await writeFile(join(home, 'gateway.lock'), await lock());
    const release = await lockHome(home);
    await assert.rejects(lockHome(home), HomeInUseError);
    await release();
  });
}

test('takes over although a gateway was killed in the middle of taking over', async () => {
  const home = join(root, 'killed-midway');
  await mkdir(home);
  await writeFile(join(home, 'gateway.lock'), JSON.stringify({ pid: await endedPid(), startedAt: '1' }));
  await writeFile(join(home, 'gateway.lock.stale'), '');
  await (await lockHome(home))();
  assert.deepEqual(await readdir(home), []);
});

test('unlocking leaves a lock alone that another gateway holds by now', async () => {
  const home = join(root, 'replaced');
  const release = await lockHome(home);
  await writeFile(join(home, 'gateway.lock'), 'another');
  await release();
  assert.equal(await readFile(join(home, 'gateway.lock'), 'utf8'), 'another');
});

test('of many gateways that find the same stale lock exactly one wins', async () => {
  const home = join(root, 'race');
  await mkdir(home);
  await writeFile(join(home, 'gateway.lock'), JSON.stringify({ pid: await endedPid(), startedAt: '1' }));
  const script = `
    const { lockHome } = await import(${JSON.stringify(import.meta.resolve('./home-lock.ts'))});
    const held = await lockHome(process.argv[1]).then(() => 'won', (error) => error.name);
    process.stdout.write(held);
    process.stdin.resume();
  `;
  const children = Array.from({ length: 6 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', script, home], { stdio: ['pipe', 'pipe', 'inherit'] }),
  );
  // Nobody may end before all have tried: the lock of a winner that is gone could rightly be taken over.
  await Promise.all(children.map((child) => new Promise((resolve) => child.stdout.once('readable', resolve))));
  for (const child of children) child.stdin.end();
  const outcomes = await Promise.all(children.map((child) => text(child.stdout)));
  assert.deepEqual(outcomes.sort(), [...Array(5).fill('HomeInUseError'), 'won']);
});

async function endedPid(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await new Promise((resolve) => child.once('exit', resolve));
  return child.pid ?? 0;
}
