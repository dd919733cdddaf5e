import { isSandbox } from './chains.ts';
import type { Config } from './config.ts';

/** Twice the usual interval of a load balancer's checks. */
const LIVE_MS = 5_000;

/** The time between the order to stop and the end of listening. A sandbox has no load balancer, and Ctrl-C is quick. */
export function drainTimeMs(config: Config): number {
  return config.drainMs ?? (isSandbox(config) ? 0 : LIVE_MS);
}
