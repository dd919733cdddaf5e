import { type Static, Type } from 'typebox';
import { EVENT_TYPES, PUBLIC_EVENT_TYPES } from '../../domain/event.ts';
import { refundIdOf } from '../../domain/ids.ts';
import type { LateMoney } from '../../domain/late-money.ts';
import { MODES } from '../../domain/mode.ts';
import { withRecordedFacts } from '../../domain/payment-facts.ts';
import type { Version } from '../../domain/version.ts';
import type { Facts, PlacedEvent } from '../../store/events/events.ts';
import type { Refund } from '../../store/money/refunds.ts';
import type { Merchant } from '../../store/parties/merchants.ts';
import type { PaymentDetails } from '../../store/payments/payment-details.ts';
import type { PaymentLink } from '../../store/payments/payment-links.ts';
import type { PaymentSettlement } from '../../store/payments/payment-settlements.ts';
import type { Payment } from '../../store/payments/payments.ts';
import { acceptedAssetsField, namedEnum, nullable, Timestamp } from '../schemas.ts';
import type { Origin } from './icons.ts';
import { EventDetailsBody, viewDetailsOfEvent } from './payment.ts';
import { LinkBody, viewLink } from './payment-link.ts';
import { OwnRefundBody, viewOwnRefund } from './refund.ts';
import { EndpointBody } from './webhook-endpoint.ts';

/** The parts of events' objects that never change, read from the database. All other parts are recorded in the event. */
export interface EventSubjects {
  readonly payments: ReadonlyMap<string, Payment>;
  readonly details: ReadonlyMap<string, PaymentDetails>;
  readonly refunds: ReadonlyMap<string, Refund>;
  readonly merchants: ReadonlyMap<string, Pick<Merchant, 'createdAt'>>;
  readonly links: ReadonlyMap<string, PaymentLink>;
}

/** The event with its object, as the object's own route answered at the time of the event. */
export function viewEvent(
  origin: Origin,
  event: PlacedEvent,
  { subjects, version }: { readonly subjects: EventSubjects; readonly version: Version },
) {
  return {
    id: event.id,
    type: event.type,
    createdAt: event.at.toISOString(),
    apiVersion: version,
    mode: event.mode,
    merchantId: event.merchantId,
    sequence: event.sequence,
    data: viewObject(origin, event, subjects),
  };
}

function viewObject(origin: Origin, event: PlacedEvent, subjects: EventSubjects): object {
  const { object } = EVENT_TYPES[event.type];
  switch (object) {
    case 'payment':
      return viewPayment(origin, event, subjects);
    case 'refund':
      return viewRefundEvent(origin, event, subjects);
    case 'payment_link':
      return viewLinkEvent(origin, event, subjects);
    case 'merchant':
      return viewMerchant(event, found(subjects.merchants, event.objectId));
    case 'settlement_destination':
      return viewDestination(event);
    case 'webhook_endpoint':
      return { id: event.objectId, ...event.data };
    default:
      throw new Error(`Events of type ${event.type} are not shown.`);
  }
}

function viewPayment(origin: Origin, { objectId, at, data }: PlacedEvent, subjects: EventSubjects) {
  const { settlement, lateMoney } = data as { settlement?: PaymentSettlement; lateMoney?: LateMoney };
  return viewDetailsOfEvent(origin, {
    payment: withRecordedFacts(found(subjects.payments, objectId), data),
    details: subjects.details.get(objectId) ?? {},
    settlement,
    refunds: recordedRefunds(objectId, data).map((record) => refundAt(found(subjects.refunds, record.id), record)),
    lateMoney,
    nowMs: at.getTime(),
  });
}

/** The refunds that an event of a payment recorded. Older events recorded only one. */
function recordedRefunds(paymentId: string, data: Facts): RefundFacts[] {
  const { refund, refunds } = data as { refund?: RefundFacts; refunds?: RefundFacts[] };
  return refunds ?? (refund === undefined ? [] : [{ ...refund, id: refundIdOf(paymentId, 1) }]);
}

type RefundFacts = Facts & { readonly id: string };

function refundAt(refund: Refund, record: Facts): Refund {
  // Older events lack the time of the request.
  const { updatedAt, requestedAt, ...facts } = record as { updatedAt: string; requestedAt?: string };
  const at = requestedAt === undefined ? refund.requestedAt : new Date(requestedAt);
  return { ...refund, ...facts, requestedAt: at, updatedAt: new Date(updatedAt) };
}

function viewRefundEvent(origin: Origin, { objectId, data }: PlacedEvent, { refunds, payments }: EventSubjects) {
  const refund = refundAt(found(refunds, objectId), data);
  return { id: objectId, ...viewOwnRefund(origin, found(payments, refund.paymentId), refund) };
}

function viewLinkEvent(origin: Origin, { objectId, data }: PlacedEvent, { links }: EventSubjects) {
  // Older events lack the accepted assets, because links had no such list then.
  const {
    expiresAt,
    acceptedAssets = null,
    ...facts
  } = data as { expiresAt: string | null; acceptedAssets?: string[] };
  const own = { ...found(links, objectId), ...facts, acceptedAssets };
  const link = { ...own, expiresAt: expiresAt === null ? null : new Date(expiresAt) };
  return viewLink(origin, link);
}

function viewMerchant({ objectId, data }: PlacedEvent, { createdAt }: Pick<Merchant, 'createdAt'>) {
  const { name, email, status, iconUrl, deletedAt } = data as Record<string, string | null>;
  const { acceptedAssets = null } = data as { acceptedAssets?: string[] | null };
  const isDeleted = deletedAt !== null && deletedAt !== undefined;
  return {
    id: objectId,
    name,
    email,
    status,
    createdAt: createdAt.toISOString(),
    iconUrl,
    acceptedAssets,
    ...(isDeleted && { deleted: true }),
  };
}

function viewDestination({ objectId, merchantId, data }: PlacedEvent) {
  const { isRemoved, ...terms } = data;
  return { id: objectId, merchantId, ...terms, ...(isRemoved === true && { deleted: true }) };
}

function found<T>(subjects: ReadonlyMap<string, T>, id: string): T {
  const subject = subjects.get(id);
  if (subject === undefined) throw new Error(`The object ${id} of an event is missing.`);
  return subject;
}

const MerchantData = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    email: nullable(Type.String()),
    status: Type.String(),
    createdAt: Timestamp,
    iconUrl: nullable(Type.String()),
    acceptedAssets: acceptedAssetsField('The assets that the merchant accepts.'),
    deleted: Type.Optional(Type.Literal(true)),
  },
  { title: 'MerchantData' },
);

const DestinationData = Type.Object(
  {
    id: Type.String(),
    merchantId: Type.String(),
    asset: Type.Optional(Type.String()),
    destination: Type.Optional(Type.String()),
    pendingDestination: Type.Optional(Type.String()),
    effectiveAt: Type.Optional(Timestamp),
    status: Type.Optional(Type.String({ description: 'Only of a fiat destination.' })),
    bankType: Type.Optional(Type.String({ description: 'Only of a fiat destination.' })),
    deleted: Type.Optional(Type.Literal(true)),
  },
  { title: 'DestinationData' },
);

const RefundData = Type.Object({ id: Type.String(), ...OwnRefundBody.properties }, { title: 'RefundData' });

export const EventBody = Type.Object(
  {
    id: Type.String({ examples: ['evt_01KHRZ6T9NC3P5Q7R9S1T3V5W7'] }),
    type: namedEnum('EventType', PUBLIC_EVENT_TYPES),
    createdAt: Timestamp,
    apiVersion: Type.String({ description: 'The version of the API that `data` is in.' }),
    mode: namedEnum('Mode', MODES),
    merchantId: nullable(Type.String()),
    sequence: Type.Integer({ minimum: 1, description: 'Counts the events of the object, without gaps.' }),
    data: Type.Unsafe<object>({
      anyOf: [EventDetailsBody, RefundData, LinkBody, MerchantData, DestinationData, EndpointBody],
      description: 'The object, as its own route answered at that moment.',
    }),
  },
  { title: 'Event', description: 'The event.' },
);

export type EventView = Static<typeof EventBody>;
