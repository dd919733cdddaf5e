import { type Static, Type } from 'typebox';
import type { Refundable } from '../../actions/outgoing/refund/refundable.ts';
import type { KeyRing } from '../../domain/key-ring.ts';
import {
  problemOf,
  REFUND_PROBLEMS,
  REFUND_STATES,
  REFUND_WAITS,
  type WaitingRefund,
  waitOf,
} from '../../domain/refund.ts';
import { signPath } from '../../domain/sign-code.ts';
import type { ListedRefund } from '../../store/payments/payment-lists.ts';
import type { Payment } from '../../store/payments/payments.ts';
import { namedEnum, nullable, Timestamp } from '../schemas.ts';
import { AmountBody, viewAmount, viewToken } from './amount.ts';
import type { Origin } from './icons.ts';

export interface RefundRow extends Omit<ListedRefund, 'requestedAt' | 'updatedAt'> {
  readonly requestedAt: Date;
  readonly updatedAt: Date;
  readonly sendAfter?: Date | null;
}

type Priced = Pick<Payment, 'amountUnit' | 'amountValue' | 'amountDecimals'>;

/**
 * The fields `refund` and `refunds` of a payment. `refunds` lists all refunds. `refund` is the last one that returns the whole
 * payment by itself, if there is one.
 */
export function viewRefunds(
  origin: Origin,
  payment: Priced,
  refunds: readonly (RefundRow & Partial<WaitingRefund>)[],
): { refund?: Static<typeof WholeRefundBody>; refunds?: RefundView[] } {
  if (refunds.length === 0) return {};
  const whole = refunds.findLast(({ price }) => price === payment.amountValue);
  return {
    ...(whole !== undefined && { refund: viewWhole(origin, whole) }),
    refunds: refunds.map((refund) => viewRefund(origin, payment, refund)),
  };
}

function viewWhole(origin: Origin, refund: RefundRow) {
  const { state: status, asset, amount, transactionHash, requestedAt, updatedAt } = refund;
  return {
    status,
    problem: problemOf(refund),
    amount: viewToken(origin, asset, amount),
    txId: transactionHash,
    requestedAt: requestedAt.toISOString(),
    lastUpdatedAt: updatedAt.toISOString(),
  };
}

function viewRefund(origin: Origin, payment: Priced, refund: RefundRow & Partial<WaitingRefund>): RefundView {
  const { id: refundId, network, recipient, price, reason } = refund;
  const { status, problem, amount, ...rest } = viewWhole(origin, refund);
  return {
    refundId,
    status,
    problem,
    amount,
    priceAmount: viewAmount(origin, payment.amountUnit, price, payment.amountDecimals),
    destination: `${network}:${recipient}`,
    reason,
    ...rest,
    ...viewWait(origin, refund),
  };
}

/** The reason why the refund waits, if its facts were read. Events and lists of payments do not read them. */
function viewWait(origin: Origin, refund: RefundRow & Partial<WaitingRefund>) {
  if (!hasFacts(refund)) return {};
  const wait = waitOf(refund);
  if (wait === undefined) return { waitingFor: null };
  const { asset, updatedAt, sendAfter } = refund;
  const { what, units } = wait;
  const until = what === 'cooling_off' && sendAfter ? { until: sendAfter.toISOString() } : {};
  const waiting = { what, asset, amount: viewToken(origin, asset, units), since: updatedAt.toISOString() };
  return { waitingFor: { ...waiting, ...until } };
}

/** The link for the signature of the account that received the payment, only while the refund waits for that. */
export function viewSignUrl(
  { publicUrl }: Origin,
  keys: KeyRing,
  refund: WaitingRefund & { readonly id: string },
): { readonly signUrl?: string } {
  const isWaiting = waitOf(refund)?.what === 'merchant_signature';
  return isWaiting ? { signUrl: publicUrl + signPath(keys, refund.id) } : {};
}

function hasFacts<Row extends RefundRow>(refund: Row & Partial<WaitingRefund>): refund is Row & WaitingRefund {
  return refund.lack !== undefined;
}

export function viewOwnRefund(
  origin: Origin,
  payment: Priced,
  refund: RefundRow & Partial<WaitingRefund> & { readonly paymentId: string; readonly merchantId: string },
) {
  const { paymentId, merchantId } = refund;
  return { paymentId, merchantId, ...viewRefund(origin, payment, refund) };
}

const RefundStatus = namedEnum('RefundStatus', REFUND_STATES, 'The state of the refund; `refunded` is the last one.');

const Problem = nullable(
  namedEnum(
    'RefundProblem',
    REFUND_PROBLEMS,
    'Why it has failed; null in any other state. `vetoed`: the operator has ended it, and it takes nothing of the payment. `not_left`: so much is not left of the payment, and it takes nothing either. `recipient_screened`: the recipient is on the screening list. `recipient_blacklisted`: the token refuses the recipient. `not_received`: the transfer could not be carried out.',
  ),
);

const WholeRefundBody = Type.Object(
  {
    status: RefundStatus,
    problem: Problem,
    amount: { ...AmountBody, description: 'The refunded amount: all that was paid.' },
    txId: nullable(Type.String({ description: 'The transaction, once it is final.' })),
    requestedAt: Timestamp,
    lastUpdatedAt: Timestamp,
  },
  { title: 'WholeRefund', description: 'Only if one refund gives back the whole payment. `refunds` has all of them.' },
);

export const WaitBody = Type.Object(
  {
    what: namedEnum(
      'RefundWaitReason',
      REFUND_WAITS,
      '`float`: for money on the intermediate account. `merchant_signature`: for the account that received the payment to sign for the refund at `signUrl`, or for money on the intermediate account. `network`: for the transfer to be final. `unfreeze`: for the operator, who has stopped it. `cooling_off`: for `until`, because it goes to another account than the payer’s. `sweep`: for the money to be swept from its deposit address. `arrival`: for the payment to arrive again, which a reorganisation of the chain took. `debt`: for other money of the payment that such a reorganisation took after it was paid out.',
    ),
    asset: Type.String({ description: 'CAIP-19.' }),
    amount: { ...AmountBody, description: 'The amount that is missing; of all others, the amount that waits.' },
    since: Timestamp,
    until: Type.Optional({ ...Timestamp, description: 'Only of `cooling_off`.' }),
  },
  { title: 'RefundWait' },
);

type RefundView = Static<typeof RefundBody>;

export const RefundBody = Type.Object(
  {
    refundId: Type.String({ examples: ['rfnd_11KHRZ5Q8MB2N4P6R8T0V2X4Z6'] }),
    status: RefundStatus,
    problem: Problem,
    amount: { ...AmountBody, description: 'The refunded amount, in the paid asset.' },
    priceAmount: { ...AmountBody, description: 'The part of the price that is given back.' },
    destination: Type.String({ description: 'The account that gets it, CAIP-10.' }),
    reason: nullable(Type.String({ description: 'Your words, if you gave some.' })),
    txId: nullable(Type.String({ description: 'The transaction, once it is final.' })),
    requestedAt: Timestamp,
    lastUpdatedAt: Timestamp,
    waitingFor: Type.Optional(
      Type.Unsafe<Static<typeof WaitBody> | null>({
        ...WaitBody,
        type: ['object', 'null'],
        description: 'What the refund waits for at this moment. Not in events and lists of payments.',
      }),
    ),
    signUrl: Type.Optional(
      Type.String({
        description:
          'Only while it waits for `merchant_signature`: the page where the account that received the payment signs. It asks for the whole refund, the fee included. Whoever has the link can ask for the request to sign, so give it to the holder of that account alone.',
        examples: ['https://pay.example.com/r/11KHRZ5Q8MB2N4P6R8T0V2X4Z6.vb0Hk1rUfXqYw2sT8pLmNg'],
      }),
    ),
  },
  { title: 'PaymentRefund' },
);

export function viewRefundable(origin: Origin, payment: Priced, refundable: Refundable | null) {
  if (refundable === null) return null;
  const { asset, price, amount } = refundable;
  return {
    priceAmount: viewAmount(origin, payment.amountUnit, price.toString(), payment.amountDecimals),
    amount: viewToken(origin, asset, amount.toString()),
  };
}

export const RefundableField = Type.Optional(
  Type.Unsafe<ReturnType<typeof viewRefundable>>({
    ...Type.Object(
      {
        priceAmount: { ...AmountBody, description: 'In the unit of the price.' },
        amount: { ...AmountBody, description: 'In the paid asset.' },
      },
      { title: 'Refundable' },
    ),
    type: ['object', 'null'],
    description:
      'What can still be refunded of the payment, earlier refunds subtracted; vetoed ones take nothing. Null if the payment has not succeeded. Show it, and send the amount that was confirmed. Not in events and lists of payments.',
  }),
);

export const OwnRefundBody = Type.Object(
  {
    paymentId: Type.String({ examples: ['pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'] }),
    merchantId: Type.String(),
    ...RefundBody.properties,
    refundable: RefundableField,
  },
  { title: 'Refund', description: 'The refund.' },
);

export const PaymentRefunds = {
  refund: Type.Optional(WholeRefundBody),
  refunds: Type.Optional(Type.Array(RefundBody, { description: 'Only if a refund was requested; the oldest first.' })),
};
