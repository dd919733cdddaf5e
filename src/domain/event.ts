/**
 * The catalogue of events. Each change of an object that partners and operators follow is one event, a row of `events`.
 * Partners receive the public events. The timeline of a payment also shows the internal ones. Either all events of an object
 * are public or none, because receivers rely on sequences without gaps.
 */
export const EVENT_TYPES = {
  'payment.created': of('payment', 'A payment was created.'),
  'payment.processing': of('payment', 'A payer has signed or sent the payment, and it is being carried out.'),
  'payment.requires_action': of('payment', 'The last attempt to pay is over. The payment can be paid again.'),
  'payment.succeeded': of('payment', 'The payment has arrived, at final depth.'),
  'payment.failed': of('payment', 'The payment was declined.'),
  'payment.expired': of('payment', 'The time to pay is over. Money that has come all the same is late money.'),
  'payment.cancelled': of('payment', 'The merchant or the payer has cancelled the payment.'),
  'payment.settled': of('payment', 'The net amount has reached the merchant.'),
  'payment.reorged': of(
    'payment',
    'A reorganisation deeper than final depth removed a transaction of the payment, or the payment is in the chain again.',
  ),
  'payment.late_money': of(
    'payment',
    'Money arrived that did not count for the payment: too late, too much, too little, twice, or in a wrong token. The payer should get it back.',
  ),
  'payment.late_money_updated': of(
    'payment',
    'The return of late money was requested, is on its way, has arrived, or did not happen.',
  ),
  'refund.created': of('refund', 'A refund was requested.'),
  'refund.processing': of('refund', 'The refund waits for funds, or is being sent.'),
  'refund.succeeded': of('refund', 'The refund has arrived, at final depth.'),
  'refund.failed': of('refund', 'The refund did not arrive, or may not be sent.'),
  'payment_link.created': of('payment_link', 'A payment link was created.'),
  'payment_link.updated': of('payment_link', 'A payment link was changed.'),
  'payment_link.sold_out': of(
    'payment_link',
    'The last piece of a payment link was taken. A payment that ends unpaid returns its piece.',
  ),
  'merchant.created': of('merchant', 'A merchant was created.'),
  'merchant.updated': of('merchant', 'A merchant was changed or deleted.'),
  'settlement_destination.pending': of('settlement_destination', 'A change was requested and is cooling off.'),
  'settlement_destination.changed': of('settlement_destination', 'A destination was added, changed or removed.'),
  'settlement_destination.vetoed': of('settlement_destination', 'A change that was cooling off was refused.'),
  'webhook_endpoint.disabled': of(
    'webhook_endpoint',
    'A webhook endpoint was disabled: it failed for three days, or answered 410.',
  ),
  'webhook_endpoint.test': of('webhook_endpoint', 'A test of a webhook endpoint. Only this endpoint gets it.'),
  'payout.begun': internal('payout', 'A held amount is being sent to its merchant.'),
  'payout.paid': internal('payout', 'A held amount has arrived, at final depth.'),
  'payout.failed': internal('payout', 'A held amount did not arrive; it is held again.'),
  'payout.undone': internal('payout', 'A deep reorganisation removed the transfer; it is sent again.'),
} as const satisfies Record<`${EventObject}.${string}`, EventKind>;

export type EventType = keyof typeof EVENT_TYPES;

/** The types that partners receive. Events of payouts are internal. */
export type PublicEventType = Exclude<EventType, `payout.${string}`>;

export const PUBLIC_EVENT_TYPES = (Object.keys(EVENT_TYPES) as EventType[]).filter(
  (type) => EVENT_TYPES[type].isPublic,
);

/** The names that a webhook endpoint can subscribe to: each public type, and patterns such as `payment.*` for all types of an object. */
export const EVENT_PATTERNS: readonly string[] = [
  ...PUBLIC_EVENT_TYPES,
  ...new Set(PUBLIC_EVENT_TYPES.map(allOfObject)),
];

/** The pattern for all types of an event's object: `payment.*` for `payment.created`. */
function allOfObject(type: EventType): string {
  return `${EVENT_TYPES[type].object}.*`;
}

export type EventObject =
  | 'payment'
  | 'refund'
  | 'payment_link'
  | 'merchant'
  | 'settlement_destination'
  | 'webhook_endpoint'
  | 'payout';

interface EventKind {
  readonly object: EventObject;
  readonly isPublic: boolean;
  /** One sentence for the documentation. */
  readonly summary: string;
}

function of(object: EventObject, summary: string): EventKind {
  return { object, isPublic: true, summary };
}

function internal(object: EventObject, summary: string): EventKind {
  return { object, isPublic: false, summary };
}
