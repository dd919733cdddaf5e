import { EVENT_TYPES, type EventObject } from '../domain/event.ts';
import { paymentIdOf } from '../domain/ids.ts';
import type { Version } from '../domain/version.ts';
import { createBatcher } from '../runtime/batcher.ts';
import type { World } from '../runtime/world.ts';
import type { PlacedEvent } from '../store/events/events.ts';
import { findRefundsOf } from '../store/money/refunds.ts';
import { findPayableMerchants } from '../store/parties/merchants.ts';
import { findDetailsOf } from '../store/payments/payment-details.ts';
import { findLinks } from '../store/payments/payment-links.ts';
import { findPayments } from '../store/payments/payments.ts';
import type { Database, Reader } from '../store/plumbing/database.ts';
import { type EventSubjects, viewEvent } from './views/event.ts';
import type { Origin } from './views/icons.ts';

/** The most bytes of an event's body. Only line items can make an event larger, so they are left out then. */
const MAX_BYTES = 64 * 1024;

interface EventBodyDeps {
  readonly config: Origin;
  readonly readSubjects: SubjectReader;
}

export async function eventBodies(
  { config, readSubjects }: EventBodyDeps,
  events: readonly PlacedEvent[],
  version: Version,
) {
  // Most answers to clients that poll for events are empty. They need no read of the database.
  if (events.length === 0) return [];
  const subjects = await readSubjects(events);
  return events.map((event) => withinLimit(viewEvent(config, event, { subjects, version })));
}

/** Reads the objects of events. The result may contain objects of other events, too. */
export type SubjectReader = (events: readonly PlacedEvent[]) => Promise<EventSubjects>;

/** The limits of a batcher, in which simultaneous reads share their statements. */
const MAX_READS = 50;
const MAX_CONCURRENT = 2;

export function createSubjectReader({ world, db }: { readonly world: World; readonly db: Database }): SubjectReader {
  return createBatcher<readonly PlacedEvent[], EventSubjects>(world, {
    run: async (reads) => {
      const subjects = await findSubjects(db.sql, reads.flat());
      return reads.map(() => subjects);
    },
    maxItems: MAX_READS,
    maxConcurrent: MAX_CONCURRENT,
    isItemsFault: () => false,
  });
}

function withinLimit<Body extends { readonly data: object }>(body: Body): Body {
  const { data } = body;
  const hasItems = 'lineItems' in data && data.lineItems !== null;
  if (!hasItems || Buffer.byteLength(JSON.stringify(body)) <= MAX_BYTES) return body;
  return { ...body, data: { ...data, lineItems: null } };
}

export async function findSubjects(db: Reader, events: readonly PlacedEvent[]): Promise<EventSubjects> {
  const idsOf = (object: EventObject) => [
    ...new Set(events.flatMap(({ type, objectId }) => (EVENT_TYPES[type].object === object ? [objectId] : []))),
  ];
  const shownIds = idsOf('payment');
  const paymentIds = [...new Set([...shownIds, ...idsOf('refund').map(paymentIdOf)])];
  const merchantIds = idsOf('merchant');
  const linkIds = idsOf('payment_link');
  const [payments, details, refunds, merchants, links] = await Promise.all([
    findPayments(db, paymentIds),
    findDetailsOf(db, shownIds),
    findRefundsOf(db, paymentIds),
    // Most feeds have only payments. Then these reads are skipped.
    merchantIds.length === 0 ? [] : findPayableMerchants(db, merchantIds),
    linkIds.length === 0 ? [] : findLinks(db, linkIds),
  ]);
  return {
    payments: new Map(payments.flatMap((payment) => (payment === undefined ? [] : [[payment.id, payment]]))),
    details,
    refunds: new Map(refunds.map((refund) => [refund.id, refund])),
    merchants: new Map(merchants.map((merchant) => [merchant.id, merchant])),
    links: new Map(links.map((link) => [link.id, link])),
  };
}
