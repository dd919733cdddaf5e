import type { Chain } from '../chains/chain.ts';
import type { Chains } from '../chains/chains.ts';
import type { Log } from '../runtime/world.ts';
import { createAlarms } from './alarms.ts';
import type { CommandDeps } from './command.ts';
import { createLasting } from './lasting.ts';

/** The number of endpoints that must agree on every fact that ends a payment or releases money. */
const QUORUM = 2;
/**
 * The time that a failure must last before it raises an alert. A failing endpoint is skipped for a moment and then asked again, so
 * shorter failures need no alert.
 */
const LASTS_MS = 30_000;

/**
 * Creates the job that raises an alert while a network has fewer working endpoints than its quorum. Each node checks for itself, because
 * nodes may reach different endpoints.
 */
export function createEndpointCheck(deps: CommandDeps & { log: Log; chains: Chains }): () => Promise<boolean> {
  const alarms = createAlarms(deps, 'endpoints_missing', { isPerNode: true });
  const lasting = createLasting(deps.world.clock, LASTS_MS);
  return async () => {
    for (const { chain } of deps.chains.list()) {
      const network = chain.network.chainId;
      await alarms.set(network, lasting.of(network, missing(chain)));
    }
    return false;
  };
}

/**
 * The text of the alert, if too few endpoints of a network work. A network with a single configured endpoint raises another alert,
 * `endpoint_alone`.
 */
function missing(chain: Chain): string | undefined {
  const { states } = chain.health();
  const down = states.filter(({ trouble }) => trouble !== undefined);
  if (states.length < QUORUM || states.length - down.length >= QUORUM) return undefined;
  const troubles = down.map(({ name, trouble }) => `${name} ${trouble}`).join(', ');
  return `${states.length - down.length} of ${states.length} endpoints of ${chain.network.name} can be asked, and ${QUORUM} must agree: ${troubles}. Payments there wait, or go on at three times the depth.`;
}
