import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { systemWorld } from '../src/runtime/system-world.ts';
import { findPort } from '../src/sandbox/free-port.ts';
import type { Place } from './debian-postgres.ts';
import { type DebianProgram, missingProgram, programPath } from './debian-program.ts';
import { until } from './until.ts';

const ETCD: DebianProgram = { names: ['etcd'], debianPackage: 'etcd-server' };
/** Characters of its output that explain why it does not answer. */
const LAST_WORDS = 2_000;

export const missingEtcd = () => missingProgram(ETCD);

/** An etcd of one member, which keeps its data in the folder of the place. */
export async function startEtcd({ folder, account }: Place): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const [port, peerPort] = [await findPort(systemWorld.random), await findPort(systemWorld.random)];
  const [url, peerUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  const settings = {
    'data-dir': join(folder, 'etcd'),
    'listen-client-urls': url,
    'advertise-client-urls': url,
    'listen-peer-urls': peerUrl,
    'initial-advertise-peer-urls': peerUrl,
    'initial-cluster': `default=${peerUrl}`,
  };
  const args = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
  const child = spawn(programPath(ETCD) ?? '', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], ...account });
  let output = '';
  child.stderr.on('data', (bytes) => {
    output = `${output}${bytes}`.slice(-LAST_WORDS);
  });
  const ended = once(child, 'close');
  await until('etcd answers', async () => {
    if (child.exitCode !== null) throw new Error(`etcd ended: ${output}`);
    const answer = await fetch(`${url}/health`).catch(() => undefined);
    return answer?.ok === true;
  });
  return {
    url,
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
