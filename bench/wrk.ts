import { access } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { runTool } from './processes.ts';

export interface LoadResult {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface Load {
  readonly script: 'create' | 'status';
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  readonly args: readonly (string | number)[];
  /** A warm-up, without a measurement: a node that has just started may still answer that it is busy. */
  readonly isWarmUp?: boolean;
}

/**
 * Sends requests as fast as they are answered, from a separate process. One thread of wrk sends several times the
 * requests that one Node process can answer. A single failed request invalidates the measurement, so it is an error.
 */
export async function runWrk({
  script,
  port,
  connections,
  seconds,
  args,
  isWarmUp = false,
}: Load): Promise<LoadResult> {
  const file = fileURLToPath(new URL(`./load/${script}.lua`, import.meta.url));
  const bounds = ['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '--timeout', '10s'];
  const output = await runTool('wrk', [...bounds, '-s', file, `http://127.0.0.1:${port}`, '--', ...args.map(String)], {
    withinMs: seconds * 1_000 + 30_000,
  });
  const { requests, durationUs, failed, p50Us, p99Us } = JSON.parse(output.trim().split('\n').at(-1) ?? '') as Record<
    'requests' | 'durationUs' | 'failed' | 'p50Us' | 'p99Us',
    number
  >;
  if (failed > 0 && !isWarmUp) throw new Error(`${failed} of ${requests} requests of ${script} failed.`);
  return { perSecond: requests / (durationUs / 1e6), p50Ms: p50Us / 1_000, p99Ms: p99Us / 1_000 };
}

/** wrk is no npm package. It is installed if it is missing and the machine permits it. */
export async function requireWrk(): Promise<void> {
  if (await isThere('wrk')) return;
  if (process.getuid?.() === 0 && (await isThere('apt-get'))) {
    await runTool('apt-get', ['install', '-y', '--no-install-recommends', 'wrk'], { withinMs: 120_000 });
    if (await isThere('wrk')) return;
  }
  throw new Error('The load comes from wrk: install it with `apt-get install wrk` or `brew install wrk`.');
}

async function isThere(program: string): Promise<boolean> {
  for (const folder of (process.env.PATH ?? '').split(':')) {
    const found = await access(`${folder}/${program}`).then(
      () => true,
      () => false,
    );
    if (found) return true;
  }
  return false;
}
