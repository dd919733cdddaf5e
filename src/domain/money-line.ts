import type { Entry, EntryKind } from './books.ts';
import type { EventType } from './event.ts';

/**
 * The log line of a decision about money. A decision is a row of one of three tables: an event, an entry of the books, or an
 * entry of the audit log. Lines have ids, amounts and transaction hashes, but no accounts of payers, no texts written by people
 * or other programs, and no secrets.
 */
export interface MoneyLine {
  readonly money: MoneyName;
  /** The object that the decision is about. */
  readonly subject: string;
  readonly merchantId?: string;
  readonly network?: string;
  readonly asset?: string;
  /** The amount in the smallest unit of the asset. */
  readonly amount?: string;
  readonly transaction?: string;
  readonly actor?: string;
  /** The event of a refund, such as `covered`, or the state of late money. Set if one value of `money` stands for several events or states. */
  readonly step?: string;
  readonly at: string;
}

/** A description of each field of a line, in the order of the fields, for the documentation. */
export const LINE_FIELDS = {
  money: 'the decision, as in the table below',
  subject:
    'the id of the payment, refund, payout, destination or float return, of the unexpected money (`stry_…`), the account of ours that money left, what is frozen, or the partner or merchant whose fees were changed',
  merchantId: 'the merchant',
  network: 'CAIP-2',
  asset: 'CAIP-19',
  amount: 'in the smallest unit of the asset',
  transaction: 'the hash of the transaction that proves it',
  actor: '`key:<id>`, `person:<id>`, `app:<id>`, `operator`, or the name of a worker',
  step: 'the move of a refund, or the state of late money, if the decision has several',
  at: 'the time of the journal, by the clock of the database; `time` is that of the machine when the line was written',
} as const satisfies Record<keyof MoneyLine, string>;

/**
 * The decision of each type of event, in one sentence for the documentation. Null if the event decides nothing about money.
 * `payment.settled` is null, because a payment is settled by its own transfer, at `payment.succeeded`, or by a payout.
 */
const OF_EVENTS = {
  'payment.created': null,
  'payment.processing': 'A payment was accepted: a payer has signed or sent it.',
  'payment.requires_action': 'A payment lapsed: the last attempt to pay is over, and it can be paid again.',
  'payment.succeeded':
    'A payment has arrived, at final depth. Without a payout, its net amount has reached the merchant.',
  'payment.failed': 'A payment was declined.',
  'payment.expired': 'A payment ended unpaid.',
  'payment.cancelled': 'A payment was cancelled.',
  'payment.settled': null,
  'payment.reorged': 'A reorganisation deeper than final depth removed a transaction, or it is in the chain again.',
  'payment.late_money': 'Late money was named. `subject` is the payment.',
  'payment.late_money_updated': 'The return of late money was requested, sent, done or given up: `step` has its state.',
  'refund.created': 'A refund was accepted.',
  'refund.processing':
    'A refund goes on: `step` is `covered`, `short`, `retried`, `reopened`, `replanned`, `undone` or `lapsed`.',
  'refund.succeeded': 'A refund has arrived, at final depth.',
  'refund.failed': 'A refund ended: `step` is `vetoed`, `failed`, `screened` or `unfit`.',
  'payment_link.created': null,
  'payment_link.updated': null,
  'payment_link.sold_out': null,
  'merchant.created': null,
  'merchant.updated': null,
  'settlement_destination.pending': 'A change of a destination was requested and cools off.',
  'settlement_destination.changed': 'A destination was added, changed or removed.',
  'settlement_destination.vetoed': 'A change of a destination was refused.',
  'webhook_endpoint.disabled': null,
  'webhook_endpoint.test': null,
  'payout.begun': 'A payout was ordered: it is signed and sent next.',
  'payout.paid': 'A payout has arrived, at final depth.',
  'payout.failed': 'A payout did not arrive; the money is held again.',
  'payout.undone': 'A deep reorganisation removed a payout; it is sent again.',
} as const satisfies Record<EventType, string | null>;

/**
 * The decision of each kind of book entry, for the documentation. Null if the line of an event already reports the decision, or
 * if the entry is about gas.
 */
const OF_ENTRIES = {
  accepted: null,
  unpaid: null,
  paid: null,
  reverted: 'A reorganisation removed a payment; its entries are reversed.',
  rebuilt: 'A payment was booked anew from the chain.',
  payout_rebuilt: 'A payout was booked anew from the chain.',
  refund_rebuilt: 'A refund was booked anew from the chain.',
  return_rebuilt: 'A return was booked anew from the chain.',
  payout_sent: null,
  payout_done: null,
  payout_failed: null,
  refund_covered: 'Money was set aside for a refund.',
  refund_sent: 'A refund is signed and sent next.',
  refund_done: null,
  refund_failed: null,
  refund_uncovered: 'The money of a refund went back to where it came from.',
  refund_fee_returned: 'The fee of a refund went to the float of its merchant.',
  held_to_float: 'Held money became a float.',
  float_added: 'A float was filled.',
  departed: 'Money left an account of ours without an order.',
  float_return_sent: 'The return of a float is signed and sent next.',
  float_returned: 'A float has reached its owner, at final depth.',
  float_return_failed: 'The return of a float did not arrive.',
  stray_received: 'Unexpected money arrived.',
  stray_covered: 'Money was set aside for the return of unexpected money.',
  stray_return_sent: 'The return of unexpected money is signed and sent next.',
  stray_returned: 'Unexpected money was returned, at final depth.',
  stray_return_failed: 'The return of unexpected money did not arrive.',
  relayer_funded: null,
  gas: null,
  deposited: 'Money arrived at a deposit address.',
  swept: 'A deposit address was swept.',
  unswept: 'A reorganisation removed a sweep.',
  coin_renamed: null,
} as const satisfies Record<EntryKind, string | null>;

/** The decision of each action in the audit log, for the documentation: decisions of people that are neither events nor book entries. */
const OF_AUDIT = {
  'freeze.set': 'Money was stopped. `subject` names the scope and what it stops.',
  'freeze.lifted': 'A freeze was lifted.',
  'fees.set': 'Fees were changed.',
  'refund.approved': 'A refund of a stopped merchant was allowed.',
  'stray.vetoed': 'The return of unexpected money was refused.',
} as const;

type Named<T> = { [Name in keyof T]: T[Name] extends null ? never : Name }[keyof T] & string;
export type MoneyName =
  | Named<typeof OF_EVENTS>
  | `books.${Named<typeof OF_ENTRIES>}`
  | (keyof typeof OF_AUDIT & string);

/** The names of all lines, each with one sentence for the documentation. */
export const MONEY_LINES: readonly (readonly [name: MoneyName, summary: string])[] = [
  ...entriesOf(OF_EVENTS, (name) => name),
  ...entriesOf(OF_ENTRIES, (kind) => `books.${kind}`),
  ...entriesOf(OF_AUDIT, (name) => name),
];

function entriesOf(table: Readonly<Record<string, string | null>>, nameOf: (key: string) => string) {
  return Object.entries(table).flatMap(([key, summary]) =>
    summary === null ? [] : [[nameOf(key) as MoneyName, summary] as const],
  );
}

export interface LoggedEvent {
  readonly type: EventType;
  readonly objectId: string;
  readonly merchantId: string | null;
  readonly actor: string;
  readonly at: Date;
  readonly data: Readonly<Record<string, unknown>>;
  readonly evidence?: Readonly<Record<string, unknown>> | undefined;
}

export function lineOfEvent({ type, objectId, merchantId, actor, at, data, evidence }: LoggedEvent): MoneyLine[] {
  if (OF_EVENTS[type] === null) return [];
  const late = data.lateMoney as { readonly [name: string]: unknown } | undefined;
  const { asset = data.tokenAsset, amount = data.tokenValue, status } = late ?? data;
  return [
    {
      money: type as MoneyName,
      subject: objectId,
      ...textOf('merchantId', merchantId),
      ...textOf('network', data.network),
      ...textOf('asset', asset),
      ...textOf('amount', amount),
      ...textOf('transaction', evidence?.transaction ?? data.transactionHash),
      actor,
      ...textOf('step', late === undefined ? evidence?.move : status),
      at: at.toISOString(),
    },
  ];
}

export function lineOfEntry(entry: Entry, at: Date): MoneyLine[] {
  const { kind, subject, merchantId, network, asset, transaction, lines } = entry;
  if (OF_ENTRIES[kind] === null) return [];
  const amount = lines.reduce((sum, { units }) => (units > 0n ? sum + units : sum), 0n);
  return [
    {
      money: `books.${kind}` as MoneyName,
      subject,
      ...textOf('merchantId', merchantId),
      network,
      asset,
      amount: amount.toString(),
      ...textOf('transaction', transaction),
      at: at.toISOString(),
    },
  ];
}

export interface LoggedAction {
  readonly action: string;
  readonly subject: string;
  readonly actor: string;
  readonly at: Date;
}

export function lineOfAction({ action, subject, actor, at }: LoggedAction): MoneyLine[] {
  if (!Object.hasOwn(OF_AUDIT, action)) return [];
  return [{ money: action as MoneyName, subject, actor, at: at.toISOString() }];
}

/** An object with this one field. Empty if the value is missing, or is not a text. */
function textOf(name: string, value: unknown): Readonly<Record<string, string>> {
  return typeof value === 'string' ? { [name]: value } : {};
}
