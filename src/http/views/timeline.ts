import { type Static, Type } from 'typebox';
import type { TimelineEntry } from '../../actions/oversight/entry.ts';
import type { Explanation } from '../../actions/oversight/explain-payment.ts';
import { WAIT_REASONS, type Wait } from '../../domain/wait-words.ts';
import { namedEnum, Timestamp } from '../schemas.ts';
import { PaymentStatusField } from './payment.ts';

/** The timeline for partners: it does not name accounts, nodes and endpoints of the gateway. */
export function viewTimeline(
  paymentId: string,
  { status, entries, omitted, wait }: Explanation,
): Static<typeof TimelineBody> {
  return {
    paymentId,
    status,
    entries: entries.map(viewEntry),
    omitted,
    waiting: wait === undefined ? null : viewWait(wait),
  };
}

function viewEntry({ at, what, text, partnerText = text, evidence }: TimelineEntry): Static<typeof EntryBody> {
  const shown = Object.entries(evidence).flatMap(([name, value]) => {
    if (!Object.hasOwn(Evidence, name) || value === undefined || value === null) return [];
    return [[name, value instanceof Date ? value.toISOString() : value]];
  });
  return { at: at.toISOString(), what, text: partnerText, ...Object.fromEntries(shown) };
}

function viewWait({ reason, partnerText, sinceMs, untilMs }: Wait): Static<typeof WaitBody> {
  const until = untilMs === undefined ? {} : { until: new Date(untilMs).toISOString() };
  return { reason, text: partnerText, since: new Date(sinceMs).toISOString(), ...until };
}

const evidence = (description: string) => Type.Optional(Type.String({ description }));

/** The values that an entry of the partner's timeline may have. All other values of an entry are internal. */
const Evidence = {
  network: evidence('CAIP-2.'),
  transaction: evidence('The hash of a transaction.'),
  block: Type.Optional(Type.Integer({ description: 'The number of a block.' })),
  blockHash: evidence('Its hash.'),
  fork: Type.Optional(Type.Integer({ description: 'The last block that a reorganisation left in place.' })),
  asset: evidence('CAIP-19.'),
  amount: evidence('In the smallest unit of the asset.'),
  account: evidence('The paying account, CAIP-10.'),
  deadline: Type.Optional(Timestamp),
  by: evidence('Who cancelled the payment: `merchant` or `user`.'),
};

const EntryBody = Type.Object(
  {
    at: Timestamp,
    what: Type.String({
      description:
        'The kind, for programs: the type of an event, or one such as `attempt.accepted`, `transaction.broadcast`, `chain.paid` or `chain.reorganised`. There may be new ones at any time.',
    }),
    text: Type.String({ description: 'What happened, in a sentence for people.' }),
    ...Evidence,
  },
  { title: 'TimelineEntry' },
);

const WaitBody = Type.Object(
  {
    reason: namedEnum(
      'WaitReason',
      WAIT_REASONS,
      '`payer`: for the payer. `sending`: for its transaction to be sent and mined. `refused`: the chain refuses it for now, and it is tried again. `confirmations`: for more blocks. `deadline`: for the end of an attempt that cannot succeed any more. `stopped`: the operator has stopped it. `network`: the network cannot be read or is too dear. `gateway`: the operator has to act. `settlement`: for the payout of the held net amount. `refund`: for its refund.',
    ),
    text: Type.String({ description: 'The reason and what ends the wait, for people.' }),
    since: Timestamp,
    until: Type.Optional(Timestamp),
  },
  { title: 'PaymentWait' },
);

export const TimelineBody = Type.Object(
  {
    paymentId: Type.String({ examples: ['pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'] }),
    status: PaymentStatusField,
    entries: Type.Array(EntryBody, { description: 'The newest 200, the oldest of them first.' }),
    omitted: Type.Integer({ minimum: 0, description: 'The number of older entries that are left out.' }),
    waiting: Type.Unsafe<Static<typeof WaitBody> | null>({
      ...WaitBody,
      type: ['object', 'null'],
      description: 'Why the payment waits, and what ends the wait; null if nothing more is to come.',
    }),
  },
  { title: 'PaymentTimeline', description: 'The timeline.' },
);
