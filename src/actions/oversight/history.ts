import { payoutIdOf } from '../../domain/ids.ts';
import { isFinal } from '../../domain/payment.ts';
import {
  type AttemptRow,
  type CarryingVersion,
  findAttempts,
  findCarryingVersions,
  findSeenEvents,
  type SeenEvent,
} from '../../store/chain/attempt-history.ts';
import { findNewestEvents, type StoredEvent } from '../../store/events/events.ts';
import { findPayoutsOf, type Outgoing } from '../../store/money/outgoing.ts';
import { findHeldMoney, type HeldMoney } from '../../store/money/payout-lists.ts';
import { findRefundsOf, type Refund } from '../../store/money/refunds.ts';
import { findKeyLabels } from '../../store/parties/api-keys.ts';
import { findMerchantOfAnyPartner, type Merchant } from '../../store/parties/merchants.ts';
import { findPartner, type Partner } from '../../store/parties/partners.ts';
import type { Payment } from '../../store/payments/payments.ts';
import { findAlertsAbout, type RaisedAlert } from '../../store/plumbing/alerts.ts';
import { type AuditEntry, findAuditAbout } from '../../store/plumbing/audit-log.ts';
import type { Reader } from '../../store/plumbing/database.ts';
import { findTakeovers, type Takeover } from '../../store/plumbing/leases.ts';
import { findDeliveriesOf, type ShownDelivery } from '../../store/webhooks/deliveries.ts';
import { freezeName } from '../parties/freeze-heads.ts';

/** All stored rows about a payment, each list with a bound, the oldest rows first. */
export interface History {
  readonly payment: Payment;
  readonly merchant: Merchant | undefined;
  readonly partner: Partner | undefined;
  readonly events: readonly (StoredEvent & { readonly objectId: string })[];
  /** The attempts of the payment, its payouts and its refunds. */
  readonly attempts: readonly AttemptRow[];
  readonly versions: readonly CarryingVersion[];
  readonly seen: readonly SeenEvent[];
  /** The payouts of the payment, the newest first. */
  readonly payouts: readonly Outgoing[];
  readonly held: readonly HeldMoney[];
  readonly refunds: readonly Refund[];
  /** Freezes and suspensions that were set or lifted. */
  readonly stops: readonly AuditEntry[];
  /** Deliveries of the events to webhook endpoints. */
  readonly deliveries: readonly ShownDelivery[];
  readonly alerts: readonly RaisedAlert[];
  readonly takeovers: readonly Takeover[];
  readonly keyLabels: ReadonlyMap<string, string>;
  /** The number of events and attempts that are left out. */
  readonly omitted: number;
}

/** The time after the end of a payment in which the gateway may still finish transactions for it. */
const AFTERMATH_MS = 60_000;
/** The bound of payouts that are read. A payment has few: one for each asset, and one for each lot that came after an earlier payout. */
const MAX_PAYOUTS = 20;

export async function readHistory(db: Reader, payment: Payment, limit: number): Promise<History> {
  const [payouts, held, refunds, merchant, partner] = await Promise.all([
    findPayoutsOf(db, payment.id, MAX_PAYOUTS),
    findHeldMoney(db, payment.id),
    findRefundsOf(db, [payment.id]),
    findMerchantOfAnyPartner(db, payment.merchantId),
    findPartner(db, payment.partnerId),
  ]);
  // The id of a payout of an older version is derived from the payment.
  const ids = [...payouts, ...refunds].map(({ id }) => id);
  const subjects = [...new Set([payment.id, payoutIdOf(payment.id), ...ids])];
  const [events, attempts] = await Promise.all([
    findNewestEvents(db, subjects, limit),
    findAttempts(db, subjects, limit),
  ]);
  const itemKeys = attempts.rows.map(({ key }) => key);
  const commitments = [...new Set(attempts.rows.map(({ commitment }) => commitment))];
  const networks = [...new Set(attempts.rows.map(({ network }) => network))];
  const assets = [...new Set([...payouts, ...held, ...refunds].map(({ asset }) => asset))];
  const ends = endsOf(payment, { payouts, held, refunds, lastEvent: events.rows[0] });
  const period = { from: payment.createdAt, to: ends.work, limit };
  const keyIds = events.rows.flatMap(({ actor }) => (actor.startsWith(KEY) ? [actor.slice(KEY.length)] : []));
  const eventIds = events.rows.map(({ id }) => id);
  const [keys, versions, seen, stops, deliveries, alerts, takeovers] = await Promise.all([
    findKeyLabels(db, [...new Set(keyIds)]),
    findCarryingVersions(db, itemKeys, limit),
    findSeenEvents(db, commitments, limit),
    findAuditAbout(db, {
      ...period,
      to: ends.stops,
      subjects: stopSubjects(payment, networks, assets),
      actions: STOPPING,
    }),
    findDeliveriesOf(db, payment, { eventIds, limit }),
    findAlertsAbout(db, { ...period, subjects, networks }),
    findTakeovers(db, { ...period, names: networks.flatMap((network) => [`watch ${network} `, `relay ${network} `]) }),
  ]);
  const omitted = events.count - events.rows.length + attempts.count - attempts.rows.length;
  return {
    payment,
    merchant,
    partner,
    payouts,
    held,
    refunds,
    events: events.rows.toReversed(),
    attempts: attempts.rows.toReversed(),
    versions: versions.toReversed(),
    seen: seen.toReversed(),
    stops: stops.toReversed(),
    deliveries: deliveries.toReversed(),
    alerts: alerts.toReversed(),
    takeovers: takeovers.toReversed(),
    keyLabels: new Map(keys.map(({ id, label }) => [`${KEY}${id}`, label])),
    omitted,
  };
}

/** The prefix of an actor that is an API key. */
const KEY = 'key:';
const STOPPING = ['freeze.set', 'freeze.lifted', 'merchant.changed'];

function stopSubjects(
  { merchantId, partnerId }: Payment,
  networks: readonly string[],
  assets: readonly string[],
): string[] {
  return [
    merchantId,
    freezeName({ scope: 'merchant', subject: merchantId }),
    freezeName({ scope: 'partner', subject: partnerId }),
    freezeName({ scope: 'payouts', subject: '' }),
    freezeName({ scope: 'refunds', subject: '' }),
    ...networks.flatMap((subject) => [
      freezeName({ scope: 'network', subject }),
      freezeName({ scope: 'restored', subject }),
    ]),
    ...assets.map((subject) => freezeName({ scope: 'asset', subject })),
  ];
}

interface Ends {
  /** The time until which alerts of the payment's networks, and takeovers of work on them, concern the payment. */
  readonly work: Date;
  /** The time until which freezes concern the payment. */
  readonly stops: Date;
}

/**
 * The times until which alerts, takeovers and freezes concern the payment. A held amount may wait for months, and meanwhile only freezes
 * concern it.
 */
function endsOf(
  { status, updatedAt }: Payment,
  {
    payouts,
    held,
    refunds,
    lastEvent,
  }: Pick<History, 'payouts' | 'held' | 'refunds'> & { readonly lastEvent: StoredEvent | undefined },
): Ends {
  const rested = new Date(Math.max(updatedAt.getTime(), lastEvent?.at.getTime() ?? 0) + AFTERMATH_MS);
  const isUnderWay =
    !isFinal(status) ||
    payouts.some(({ state }) => state === 'sending') ||
    refunds.some(({ state }) => state === 'requested' || state === 'sending');
  const isHeld = held.length > 0 || refunds.some(({ state }) => state !== 'refunded');
  return { work: isUnderWay ? FAR : rested, stops: isUnderWay || isHeld ? FAR : rested };
}

/** Later than every stored time. */
const FAR = new Date(Date.UTC(9999, 0, 1));
