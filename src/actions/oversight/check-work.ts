import type { Chains, ConnectedChain } from '../../chains/chains.ts';
import { finalityMs, finalityOf } from '../../chains/finality.ts';
import type { Network } from '../../chains/network.ts';
import type { RegistryDeps } from '../../chains/registry.ts';
import { spenderWord } from '../../domain/addresses/families.ts';
import { aboutMs, isoText } from '../../domain/wait-words.ts';
import { unshifted } from '../../runtime/shifted-clock.ts';
import type { Log } from '../../runtime/world.ts';
import { findUnsent, type OverdueWork } from '../../store/chain/due-items.ts';
import { findOldestSent, findOldOutgoingItems, type SentItem } from '../../store/chain/sent-items.ts';
import { findOldestUnplaced } from '../../store/events/placing.ts';
import { findStuckMails } from '../../store/mail/mails.ts';
import { findUnapproved, findUnbegun, type Unapproved } from '../../store/money/outgoing.ts';
import { listAlerts } from '../../store/plumbing/alerts.ts';
import { listLeases } from '../../store/plumbing/leases.ts';
import { createAlarms } from '../alarms.ts';
import { auditLeaseName } from '../books/audit/audit-books.ts';
import { solvencyLeaseName } from '../books/audit/solvency.ts';
import { sealLeaseName } from '../books/seal-entries.ts';
import type { CommandDeps } from '../command.ts';
import { createLasting } from '../lasting.ts';
import { PLACING_LEASE } from '../place-events.ts';
import { alarmSubject } from '../relay/check-relayer.ts';
import { findFormerRelayers } from '../relay/former-relayers.ts';
import { limitsOf, type RelaySettings, relayLeaseName } from '../relay/relayer.ts';
import { watchLeaseName } from '../watch/watcher.ts';
import { clearOutdatedAlerts } from './clear-outdated-alerts.ts';
import { findMissingNetworks } from './missing-networks.ts';

export interface WorkCheckDeps extends CommandDeps {
  readonly log: Log;
  readonly chains: Chains;
  readonly relaying?: RelaySettings;
}

/** The age at which an unsent item raises an alert. A relayer sends a due item within a second. */
const UNSENT_AFTER_MS = 30_000;
/**
 * An unsent item is no longer reported within this time before its deadline: relayers stop sending it soon (`SEND_MARGIN_MS`), and it
 * expires.
 */
const UNSENT_MARGIN_MS = 60_000;
/** A payment may take this many times the usual time to finality, plus `SLACK_MS`, before it raises an alert. */
const SLACK_FACTOR = 3;
const SLACK_MS = 90_000;
const OUTGOING_AFTER_MS = 15 * 60_000;
/** The age at which an event without a position raises an alert. The placer needs less than a second. */
const UNPLACED_AFTER_MS = 15_000;
/**
 * The time for which a lease must be free before it raises an alert. After the crash of a node its leases are free for about ten seconds.
 */
const UNLED_AFTER_MS = 30_000;
/** The age at which an unsent mail raises an alert. By then its first two attempts have failed, or no node sends mails. */
const MAIL_AFTER_MS = 10 * 60_000;
const MAX_SENT = 200;

/**
 * Creates the job that raises alerts for work that no node does, before a person notices. The job reads only the database, so it also
 * notices that no relayer or watcher runs.
 */
export function createWorkCheck(deps: WorkCheckDeps): () => Promise<boolean> {
  const { db, chains } = deps;
  const alarms = {
    unsent: createAlarms(deps, 'items_unsent'),
    stuck: createAlarms(deps, 'payments_stuck'),
    outgoing: createAlarms(deps, 'outgoing_stuck'),
    unapproved: createAlarms(deps, 'approval_missing'),
    unplaced: createAlarms(deps, 'events_unplaced'),
    unled: createAlarms(deps, 'work_unled'),
    mails: createAlarms(deps, 'mails_stuck'),
    gone: createAlarms(deps, 'relayer_gone'),
    missing: createAlarms(deps, 'network_missing'),
  };
  const neverTaken = createLasting(deps.world.clock, UNLED_AFTER_MS);

  async function checkNetwork(connected: ConnectedChain, nowMs: number): Promise<void> {
    const { chainId: network, name } = connected.chain.network;
    const unsent = await findUnsent(db.sql, {
      network,
      before: new Date(nowMs - UNSENT_AFTER_MS),
      deadlineAfter: new Date(nowMs + UNSENT_MARGIN_MS),
      limits: limitsOf({ settings: deps.relaying ?? {} }, network),
    });
    await alarms.unsent.set(network, unsent && `Nobody sends ${sentence(unsent, name)}`);
    const before = new Date(nowMs - SLACK_MS);
    const late = (await findOldestSent(db.sql, { network, before, limit: MAX_SENT })).filter(
      (item) => nowMs - item.sentAt.getTime() > needsMs(deps, connected, item),
    );
    const [oldest] = late;
    await alarms.stuck.set(
      network,
      oldest && stuckText(late.length, oldest, { name, usual: aboutMs(needsMs(deps, connected, oldest)) }),
    );
    const old = { network, before: new Date(nowMs - OUTGOING_AFTER_MS) };
    const outgoing = (await findUnbegun(db.sql, old)) ?? (await findOldOutgoingItems(db.sql, old));
    await alarms.outgoing.set(
      network,
      outgoing && `Payouts, refunds or returns do not arrive: ${sentence(outgoing, name)}`,
    );
    const unapproved = await findUnapproved(db.sql, network);
    await alarms.unapproved.set(network, unapprovedText(deps, unapproved, connected.chain.network));
  }

  async function checkLeases(nowMs: number): Promise<void> {
    const leases = await listLeases(db.sql);
    for (const [name, work] of expectedLeases(chains)) {
      const message = `No node does this work: ${work}. Start a node with its role and its network.`;
      const lease = leases.find((each) => each.name === name);
      const isFree = lease === undefined || nowMs - lease.until.getTime() >= UNLED_AFTER_MS;
      const reported = isFree ? message : undefined;
      // A lease that was never taken has no expiry time, and the gateway may be starting for the first time.
      await alarms.unled.set(name, lease === undefined ? neverTaken.of(name, reported) : reported);
    }
  }

  /** Sets the alerts about items in transactions of relayers whose keys were removed from the settings. */
  async function checkFormerRelayers(): Promise<void> {
    const former = await findFormerRelayers({ ...deps, clock: deps.world.clock });
    const waiting = new Map(former.filter(({ items }) => items > 0).map((each) => [alarmSubject(each), each]));
    for (const [subject, { signer, items, since }] of waiting) {
      const message = `The key of ${signer} is configured no more, and ${items} payments, transfers or sweeps are in transactions of it that have not been mined since ${isoText(since.getTime())}. They are broadcast again, and after three minutes sent by other relayers.`;
      await alarms.gone.set(subject, message);
    }
    await clearOthers('relayer_gone', new Set(waiting.keys()));
  }

  /** Sets the alerts about networks that were removed from the settings while they had open work. */
  async function checkMissingNetworks(): Promise<void> {
    const missing = await findMissingNetworks(db.sql, deps.registry, chains);
    for (const { network, message } of missing) await alarms.missing.set(network, message);
    await clearOthers('network_missing', new Set(missing.map(({ network }) => network)));
  }

  /**
   * Clears the alerts of this name that were not raised now. Their subjects come from rows, so an alert is over when its rows are gone.
   */
  async function clearOthers(name: 'relayer_gone' | 'network_missing', raised: ReadonlySet<string>): Promise<void> {
    const alarm = name === 'relayer_gone' ? alarms.gone : alarms.missing;
    for (const alert of await listAlerts(db.sql)) {
      if (alert.name === name && !raised.has(alert.subject)) await alarm.set(alert.subject, undefined);
    }
  }

  async function checkMails(nowMs: number): Promise<void> {
    const stuck = await findStuckMails(db.sql, new Date(nowMs - MAIL_AFTER_MS));
    const why = stuck?.problem === null ? 'No node has tried to send them.' : `The last problem: ${stuck?.problem}`;
    const mails = stuck?.count === 1 ? 'A mail has' : `${stuck?.count} mails have`;
    const message = stuck && `${mails} waited since ${isoText(stuck.since.getTime())}. ${why}`;
    await alarms.mails.set('mails', message);
  }

  return async () => {
    const nowMs = deps.world.clock.nowMs();
    for (const connected of chains.list()) await checkNetwork(connected, nowMs);
    const unplaced = await findOldestUnplaced(db.sql);
    const isLate = unplaced !== undefined && nowMs - unplaced.getTime() >= UNPLACED_AFTER_MS;
    const message = `Events have waited for their positions since ${isoText(unplaced?.getTime() ?? 0)}. Until then they are not delivered, and held requests answer late.`;
    await alarms.unplaced.set('outbox', isLate ? message : undefined);
    await checkFormerRelayers();
    await checkMissingNetworks();
    await clearOutdatedAlerts(deps);
    await checkLeases(unshifted(deps.world.clock).nowMs());
    await checkMails(unshifted(deps.world.clock).nowMs());
    return false;
  };
}

/** The longest normal time from sending to the end of a payment of this amount. */
function needsMs(deps: RegistryDeps, { chain: { network } }: ConnectedChain, item: SentItem): number {
  return finalityMs(network, finalityOf(deps, network, item), SLACK_FACTOR) + SLACK_MS;
}

function stuckText(count: number, oldest: SentItem, { name, usual }: { name: string; usual: string }): string {
  const some = count === 1 ? 'A payment' : `${count} payments`;
  return `${some} on ${name} took longer than ${usual} since sending. \`till explain ${oldest.subject}\` shows why.`;
}

function sentence({ count, oldest, since }: OverdueWork, name: string): string {
  const more = count === 1 ? '' : ` and ${count - 1} more`;
  return `${oldest}${more} on ${name}, since ${isoText(since.getTime())}.`;
}

function unapprovedText(
  { registry }: RegistryDeps,
  [first, ...others]: readonly Unapproved[],
  { chainId, name }: Network,
): string | undefined {
  if (first === undefined) return undefined;
  const { payer, asset, count } = first;
  const symbol = registry.asset(asset)?.symbol ?? asset;
  const [waiting, going] =
    count === 1
      ? ['a payout, refund or return waits', 'the transfer goes on by itself']
      : [`${count} payouts, refunds or returns wait`, 'they go on by themselves'];
  const more = others.length === 0 ? '' : ` ${others.length} more tokens lack an approval, too.`;
  return `${payer} on ${name} has not approved ${symbol} for ${spenderWord(chainId)}, so ${waiting}. The account must approve it once; ${going}.${more}`;
}

/** The leases that a node must hold, each with its work. */
export function expectedLeases(chains: Chains): (readonly [lease: string, work: string])[] {
  const ofNetworks = chains
    .list()
    .flatMap(({ chain: { network }, relayers }) => [
      [watchLeaseName(network.chainId), `watching ${network.name} (role watch)`] as const,
      ...relayers.map(
        ({ address }) =>
          [
            relayLeaseName({ network: network.chainId, signer: address }),
            `relaying on ${network.name} by ${address} (role relay)`,
          ] as const,
      ),
      [sealLeaseName(network.chainId), `sealing the books of ${network.name} (role jobs)`] as const,
      [auditLeaseName(network.chainId), `auditing the books of ${network.name} (role jobs)`] as const,
      [solvencyLeaseName(network.chainId), `comparing balances with the books of ${network.name} (role jobs)`] as const,
    ]);
  return [...ofNetworks, [PLACING_LEASE, 'placing events (role jobs)'] as const];
}
