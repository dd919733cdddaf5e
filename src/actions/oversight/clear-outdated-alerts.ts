import type { Chains } from '../../chains/chains.ts';
import { assetsOf } from '../../chains/registry.ts';
import { isAddressForm } from '../../domain/addresses/families.ts';
import type { AlertName } from '../../domain/alert.ts';
import { unshifted } from '../../runtime/shifted-clock.ts';
import type { Log } from '../../runtime/world.ts';
import { listAlerts } from '../../store/plumbing/alerts.ts';
import { isHeldAt, listLeases } from '../../store/plumbing/leases.ts';
import { clearAlert } from '../alerts.ts';
import type { CommandDeps } from '../command.ts';
import { relayLeaseName } from '../relay/relayer.ts';

/**
 * The source of each alert decides what ends it:
 * - `network`: a condition of a network, or of an account, an asset or a job on it. Only a node with the network in its settings
 *   checks it, and raises the alert again every minute while the condition lasts. After the network, account or asset is removed
 *   no node checks it any more, so the alert is cleared here.
 * - `row`: rows of the database. Their own checks and commands need no network.
 * - `node`: a condition of a node or of the whole gateway, whatever its networks.
 * - `money`: a report about money or events on the chain. It stays true while the network is removed, so only its own check or a
 *   person ends it.
 */
export const ALERT_SOURCES = {
  account_refused: 'row',
  approval_missing: 'network',
  asset_left_out: 'network',
  asset_switched_off: 'network',
  audit_failing: 'network',
  block_set_aside: 'money',
  books_differ: 'network',
  books_unread: 'network',
  clock_off: 'node',
  deep_reorg: 'money',
  deposit_differs: 'money',
  destination_refused: 'row',
  endpoint_alone: 'network',
  endpoints_disagree: 'network',
  endpoints_missing: 'network',
  event_set_aside: 'money',
  events_unplaced: 'node',
  forgotten_outgoing: 'row',
  freezes_changed: 'row',
  frozen: 'row',
  gas_budget_spent: 'network',
  gas_price_above_cap: 'network',
  intermediate_key_missing: 'network',
  items_unsent: 'network',
  // Jobs without a network in their names are not cleared here.
  job_failing: 'network',
  key_refused: 'row',
  mails_given_up: 'node',
  mails_stuck: 'node',
  money_left: 'money',
  money_missing: 'money',
  money_uncomputed: 'row',
  network_missing: 'row',
  network_not_as_known: 'network',
  network_unavailable: 'network',
  outgoing_limited: 'network',
  outgoing_refused: 'row',
  outgoing_stuck: 'network',
  paid_after_end: 'row',
  payments_stuck: 'network',
  payments_undetermined: 'network',
  payout_failed: 'row',
  rate_missing: 'node',
  records_differ: 'node',
  refund_awaiting_funds: 'row',
  refund_failed: 'row',
  relayer_balance_low: 'network',
  relayer_gone: 'row',
  relayer_out_of_funds: 'network',
  return_failed: 'row',
  screened_payer: 'money',
  screening_list: 'node',
  send_stuck: 'network',
  session_refused: 'row',
  shortfall: 'money',
  signer_refused: 'row',
  stray_money: 'row',
  webhook_endpoint_disabled: 'row',
  work_unled: 'network',
} as const satisfies Record<AlertName, 'network' | 'row' | 'node' | 'money'>;

/** An alert of a network is cleared if no node has raised it again for this long, and no node serves its subject. */
const UNSEEN_MS = 10 * 60_000;
/**
 * The time for which the alert about money that left without an order stays. While that money is missing, the alert about the shortfall
 * stays.
 */
const REPORTED_MS = 7 * 86_400_000;

/** Clears alerts about networks, accounts and assets that no node has in its settings any more. */
export async function clearOutdatedAlerts(deps: CommandDeps & { log: Log; chains: Chains }): Promise<void> {
  const nowMs = deps.world.clock.nowMs();
  const unseenSince = new Date(nowMs - UNSEEN_MS);
  const leftSince = new Date(nowMs - REPORTED_MS);
  const alerts = await listAlerts(deps.db.sql);
  for (const { name, subject, lastSeen } of alerts)
    if (name === 'money_left' && lastSeen <= leftSince) await clearAlert(deps, { name, subject }, leftSince);
  const unseen = alerts.filter(({ name, lastSeen }) => ALERT_SOURCES[name] === 'network' && lastSeen <= unseenSince);
  if (unseen.length === 0) return;
  const served = await findServed(deps);
  for (const { name, subject } of unseen)
    if (!isServed(subject, served)) await clearAlert(deps, { name, subject }, unseenSince);
}

/** The networks that this node or another one serves, and the accounts, assets and jobs on them. */
async function findServed({ db, world, registry, chains }: CommandDeps & { chains: Chains }): Promise<Set<string>> {
  const own = chains.list().flatMap(({ chain, relayers, intermediateSigner, otherIntermediates = [] }) => {
    const network = chain.network.chainId;
    const signers = [...relayers, ...otherIntermediates, intermediateSigner].flatMap((signer) => signer?.address ?? []);
    return [network, ...signers.flatMap((signer) => [`${network}:${signer}`, relayLeaseName({ network, signer })])];
  });
  const nowMs = unshifted(world.clock).nowMs();
  const led = (await listLeases(db.sql)).filter((lease) => isHeldAt(lease, nowMs)).map(({ name }) => name);
  const ofOthers = led.flatMap((name) => {
    const [, network, signer] = name.split(' ');
    return [name, network ?? [], signer === undefined ? [] : `${network}:${signer}`].flat();
  });
  const served = new Set([...own, ...ofOthers]);
  return new Set([...served, ...[...served].flatMap((network) => assetsOf(registry, network).map(({ id }) => id))]);
}

/**
 * True if the subject is a served network, one of its accounts or assets, or a job on it: `eip155:1`, `eip155:1:0x…`, `watch eip155:1`.
 */
function isServed(subject: string, served: ReadonlySet<string>): boolean {
  const [network = ''] = /[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}/.exec(subject) ?? [];
  const namesAddress = subject.split(/[ :/]/).some(isAddressForm);
  return served.has(subject) || network === '' || (!namesAddress && served.has(network));
}
