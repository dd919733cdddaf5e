import type { Chains } from '../../chains/chains.ts';
import { isAddressForm } from '../../domain/addresses/families.ts';
import type { AlertName } from '../../domain/alert.ts';
import type { Log } from '../../runtime/world.ts';
import { listAlerts } from '../../store/plumbing/alerts.ts';
import { clearAlert } from '../alerts.ts';
import type { CommandDeps } from '../command.ts';
import { relayLeaseName } from '../relay/relayer.ts';

/**
 * Alerts that follow a condition of a network or relayer, and are raised again every minute while it lasts. After the network or
 * relayer is removed from the settings no job checks the condition any more.
 */
const OF_CONDITIONS: ReadonlySet<AlertName> = new Set<AlertName>([
  'approval_missing',
  'audit_failing',
  'endpoint_alone',
  'endpoints_disagree',
  'endpoints_missing',
  'gas_budget_spent',
  'gas_price_above_cap',
  'items_unsent',
  'network_unavailable',
  'outgoing_stuck',
  'payments_stuck',
  'payments_undetermined',
  'relayer_balance_low',
  'relayer_out_of_funds',
  'send_stuck',
  'work_unled',
]);
/** An alert that no node has raised for this long is over: a node whose settings have the network raises it every minute. */
const UNSEEN_MS = 10 * 60_000;
/** Money that left without an order is reported this long. While it is missing, the alert about the shortfall stays. */
const REPORTED_MS = 7 * 86_400_000;

/** Clears alerts about networks and relayers that no node has in its settings any more. */
export async function clearOutdatedAlerts(deps: CommandDeps & { log: Log; chains: Chains }): Promise<void> {
  const unseenSince = new Date(deps.world.clock.nowMs() - UNSEEN_MS);
  const served = new Set(
    deps.chains.list().flatMap(({ chain, relayers, intermediateSigner, otherIntermediates = [] }) => {
      const network = chain.network.chainId;
      const signers = [...relayers, ...otherIntermediates, intermediateSigner].flatMap(
        (signer) => signer?.address ?? [],
      );
      const own = signers.flatMap((signer) => [`${network}:${signer}`, relayLeaseName({ network, signer })]);
      return [network, ...own];
    }),
  );
  const leftSince = new Date(deps.world.clock.nowMs() - REPORTED_MS);
  for (const { name, subject, lastSeen } of await listAlerts(deps.db.sql)) {
    if (name === 'money_left' && lastSeen <= leftSince) await clearAlert(deps, { name, subject }, leftSince);
    if (!OF_CONDITIONS.has(name) || lastSeen > unseenSince || isServed(subject, served)) continue;
    await clearAlert(deps, { name, subject }, unseenSince);
  }
}

/** True for a network of this node, one of its accounts, or work on it: `eip155:1`, `eip155:1:0x…`, `watch eip155:1`. */
function isServed(subject: string, served: ReadonlySet<string>): boolean {
  const [network = ''] = /[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}/.exec(subject) ?? [];
  const namesAccount = subject.split(/[ :/]/).some(isAddressForm);
  return served.has(subject) || network === '' || (!namesAccount && served.has(network));
}
