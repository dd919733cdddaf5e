import { EVENT_TYPES, type EventObject } from '../domain/event.ts';
import { paymentIdOf } from '../domain/ids.ts';
import type { Version } from '../domain/version.ts';
import type { PlacedEvent } from '../store/events/events.ts';
import { findRefundsOf } from '../store/money/refunds.ts';
import { findPayableMerchants } from '../store/parties/merchants.ts';
import { findDetailsOf } from '../store/payments/payment-details.ts';
import { findPayments } from '../store/payments/payments.ts';
import type { Database, Reader } from '../store/plumbing/database.ts';
import { type EventSubjects, viewEvent } from './views/event.ts';
import type { Origin } from './views/icons.ts';

/** The most bytes of a body. Only line items can make a payment larger. */
const MAX_BYTES = 64 * 1024;

/** The public bodies of events, in a version of the API. */
export async function eventBodies(
  { db, config }: { readonly db: Pick<Database, 'sql'>; readonly config: Origin },
  events: readonly PlacedEvent[],
  version: Version,
) {
  // Most answers of a follower are empty.
  if (events.length === 0) return [];
  const subjects = await readSubjects(db.sql, events);
  return events.map((event) => withinLimit(viewEvent(config, event, { subjects, version })));
}

function withinLimit<Body extends { readonly data: object }>(body: Body): Body {
  const { data } = body;
  const hasItems = 'lineItems' in data && data.lineItems !== null;
  if (!hasItems || Buffer.byteLength(JSON.stringify(body)) <= MAX_BYTES) return body;
  return { ...body, data: { ...data, lineItems: null } };
}

async function readSubjects(db: Reader, events: readonly PlacedEvent[]): Promise<EventSubjects> {
  const idsOf = (object: EventObject) => [
    ...new Set(events.flatMap(({ type, objectId }) => (EVENT_TYPES[type].object === object ? [objectId] : []))),
  ];
  const shownIds = idsOf('payment');
  const refundIds = idsOf('refund');
  const paymentIds = [...new Set([...shownIds, ...refundIds.map(paymentIdOf)])];
  const [payments, details, refunds, merchants] = await Promise.all([
    findPayments(db, paymentIds),
    findDetailsOf(db, shownIds),
    findRefundsOf(db, paymentIds),
    findPayableMerchants(db, idsOf('merchant')),
  ]);
  return {
    payments: new Map(payments.flatMap((payment) => (payment === undefined ? [] : [[payment.id, payment]]))),
    details,
    refunds: new Map(refunds.map((refund) => [refund.id, refund])),
    merchants: new Map(merchants.map((merchant) => [merchant.id, merchant])),
  };
}
