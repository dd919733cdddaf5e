import { type ChildProcess, fork } from 'node:child_process';

/** Starts a process of `hunter.ts`. A larger young generation is collected less often. */
export function forkHunter(): ChildProcess {
  return fork(new URL('./hunter.ts', import.meta.url), { execArgv: ['--max-semi-space-size=64'] });
}
