import type { Mode } from '../domain/mode.ts';
import { isSandbox } from './chains.ts';
import type { Config } from './config.ts';

/** True if webhooks may go to this machine and without HTTPS, which is so for test data of a sandbox. */
export function allowsLocalReceivers(config: Config, mode: Mode): boolean {
  return mode === 'test' && isSandbox(config);
}
