import { isSandbox } from './chains.ts';
import type { Config } from './config.ts';

/** The default drain time: twice the usual interval of a load balancer's health checks. */
const LIVE_MS = 5_000;

/** The time between the stop signal and the end of listening. A sandbox has no load balancer, so Ctrl-C takes effect at once. */
export function drainTimeMs(config: Config): number {
  return config.drainMs ?? (isSandbox(config) ? 0 : LIVE_MS);
}
