import { type Static, Type } from 'typebox';
import { LATE_REASONS, LATE_STATES, type LateMoney, type LateState } from '../../domain/late-money.ts';
import { type RefundState, waitOf } from '../../domain/refund.ts';
import type { ShownLateMoney } from '../../store/money/late-money.ts';
import { namedEnum, nullable, Timestamp } from '../schemas.ts';
import { AmountBody, viewToken } from './amount.ts';
import type { Origin } from './icons.ts';
import { WaitBody } from './refund.ts';

export function viewLateMoney(origin: Origin, money: ShownLateMoney): Static<typeof LateMoneyBody> {
  const { id, paymentId, merchantId, network, asset, amount, fee, sender, transactionHash, reason, state } = money;
  const to = money.sentTo ?? money.recipient;
  return {
    id,
    paymentId,
    merchantId,
    reason: reason ?? 'late',
    status: state,
    network,
    asset,
    amount: viewToken(origin, asset, amount),
    fee: viewToken(origin, asset, fee),
    sender: sender === null ? null : `${network}:${sender}`,
    txId: transactionHash,
    destination: to === null ? null : `${network}:${to}`,
    returnTxId: state === 'returned' ? money.returnHash : null,
    problem: state === 'unclaimed' ? money.problem : null,
    createdAt: money.seenAt.toISOString(),
    requestedAt: money.requestedAt?.toISOString() ?? null,
    waitingFor: viewWait(origin, money),
  };
}

type ListedMoney = Pick<ShownLateMoney, 'id' | 'reason' | 'asset' | 'amount' | 'state'>;

/** Late money as a list of payments shows it. The route of late money shows the other fields, too. */
export function viewListedMoney(origin: Origin, { id, reason, asset, amount, state }: ListedMoney) {
  return { id, reason: reason ?? 'late', status: state, amount: viewToken(origin, asset, amount) };
}

/** Late money as the payer sees it: the amount, the reason, and how it is returned. */
export function viewMoneyOfPayer(origin: Origin, money: ShownLateMoney) {
  const { reason, status, amount } = viewListedMoney(origin, money);
  return { reason, status, amount, returnTxId: status === 'returned' ? money.returnHash : null, message: BACK[status] };
}

const BACK: Readonly<Record<LateState, string>> = {
  unclaimed: 'The merchant was notified and can return it. Ask the merchant, and name the account that should get it.',
  requested: 'Its return was requested. It may wait some time before it is sent.',
  returning: 'It is on its way back.',
  returned: 'It was returned.',
};

/** For each state of late money, the refund state that waits for the same things. */
const AS_REFUND: Readonly<Record<Exclude<LateState, 'unclaimed'>, RefundState>> = {
  requested: 'awaiting_funds',
  returning: 'sending',
  returned: 'refunded',
};

function viewWait(origin: Origin, money: ShownLateMoney): Static<typeof WaitBody> | null {
  const { state, asset, sendAfter, updatedAt } = money;
  if (state === 'unclaimed') return null;
  const wait = waitOf({ ...money, state: AS_REFUND[state], waitsFor: null, merchantAccount: null, isOffered: false });
  if (wait === undefined) return null;
  const until = wait.what === 'cooling_off' && sendAfter !== null ? { until: sendAfter.toISOString() } : {};
  const amount = viewToken(origin, asset, wait.units);
  return { what: wait.what, asset, amount, since: updatedAt.toISOString(), ...until };
}

export function viewLateMoneyOfEvent(origin: Origin, money: LateMoney) {
  const { id, reason, asset, amount, status, destination, problem } = money;
  return {
    ...(id !== undefined && { id }),
    reason,
    amount: viewToken(origin, asset, amount),
    ...(status !== undefined && { status, destination: destination ?? null, problem: problem ?? null }),
  };
}

const LateMoneyId = Type.String({ examples: ['stry_5VKHRZ5Q8MB2N4P6R8T0V2X4Z6'] });
const Reason = namedEnum(
  'LateMoneyReason',
  LATE_REASONS,
  '`late`: for a payment that was over. `overpaid`: more than asked. `underpaid`: less than asked when the payment ended. `paid_twice`: for a payment that was paid already. `wrong_token` and `wrong_network`: at a deposit address that asked for something else.',
);
const Status = namedEnum(
  'LateMoneyStatus',
  LATE_STATES,
  '`unclaimed`: nobody has asked for its return. `requested`: the return cools off or waits. `returning`: it is being sent. `returned`: it has arrived, at final depth.',
);
const Destination = nullable(Type.String({ description: 'The account that gets it back, CAIP-10.' }));
const Problem = nullable(
  Type.String({
    description:
      'Why the last return did not happen, such as `vetoed` or `recipient_screened`. Another one can be requested.',
  }),
);

export const LateMoneyBody = Type.Object(
  {
    id: LateMoneyId,
    paymentId: Type.String({ examples: ['pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'] }),
    merchantId: Type.String(),
    reason: Reason,
    status: Status,
    network: Type.String({ description: 'CAIP-2.' }),
    asset: Type.String({ description: 'CAIP-19.' }),
    amount: { ...AmountBody, description: 'All of it. It is returned whole.' },
    fee: { ...AmountBody, description: 'The part of it that the operator took as a fee, or will take.' },
    sender: nullable(
      Type.String({
        description:
          'The account that sent it, CAIP-10. Null at a deposit address, where the sender may be an exchange.',
      }),
    ),
    txId: nullable(Type.String({ description: 'The transaction by which it came. Null at a deposit address.' })),
    destination: Destination,
    returnTxId: nullable(Type.String({ description: 'The transaction of its return, once it is final.' })),
    problem: Problem,
    createdAt: Timestamp,
    requestedAt: nullable(Timestamp),
    waitingFor: Type.Unsafe<Static<typeof WaitBody> | null>({
      ...WaitBody,
      type: ['object', 'null'],
      description: 'The wait of the return at this moment; null if it waits for nothing.',
    }),
  },
  { title: 'LateMoney', description: 'The late money.' },
);

export const LateMoneyOfPayment = Type.Array(LateMoneyBody, {
  description:
    'Money that has arrived and did not count for the payment, the oldest first. `POST /v1/late-money/{id}/return` gives one back.',
});

export const ListedMoneyBody = Type.Object(
  { id: LateMoneyId, reason: Reason, status: Status, amount: AmountBody },
  { title: 'ListedLateMoney' },
);

export const MoneyOfPayer = Type.Array(
  Type.Object(
    {
      reason: Reason,
      status: Status,
      amount: AmountBody,
      returnTxId: nullable(Type.String({ description: 'The transaction of its return, once it is final.' })),
      message: Type.String({ description: 'How it comes back.' }),
    },
    { title: 'PayerLateMoney' },
  ),
  { description: 'Money that has arrived and did not count for the payment, the oldest first.' },
);

export const LateMoneyOfEvent = Type.Optional(
  Type.Object(
    {
      id: Type.Optional({ ...LateMoneyId, description: 'Its own route shows it. Missing in older events.' }),
      reason: Reason,
      amount: AmountBody,
      status: Type.Optional({ ...Status, description: 'Only of `payment.late_money_updated`, like the other two.' }),
      destination: Type.Optional(Destination),
      problem: Type.Optional(Problem),
    },
    {
      title: 'LateMoneyData',
      description:
        'Only in events of type `payment.late_money` and `payment.late_money_updated`: the money that the payment did not need.',
    },
  ),
);
