import type { Mode } from '../domain/mode.ts';
import { isSandbox } from './chains.ts';
import type { Config } from './config.ts';

/** True if receivers may be on this machine and without HTTPS: for test data of a sandbox. */
export function allowsLocalReceivers(config: Config, mode: Mode): boolean {
  return mode === 'test' && isSandbox(config);
}
