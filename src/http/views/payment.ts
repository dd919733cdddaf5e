import { Type } from 'typebox';
import type { Refundable } from '../../actions/outgoing/refund/refundable.ts';
import { tokenUnitId } from '../../chains/units.ts';
import type { LateMoney } from '../../domain/late-money.ts';
import { isFinal, PAYMENT_STATUSES, pollInMs, visibleStatus } from '../../domain/payment.ts';
import type { WaitingRefund } from '../../domain/refund.ts';
import type { PaymentDetails } from '../../store/payments/payment-details.ts';
import type { PaymentSettlement } from '../../store/payments/payment-settlements.ts';
import { type Payment, type PaymentGlance, stateOf } from '../../store/payments/payments.ts';
import { gatewayUrl } from '../entry/payment-id.ts';
import { acceptedAssetsField, enumOf, namedEnum, nullable, Timestamp } from '../schemas.ts';
import { AmountBody, viewAmount, viewToken } from './amount.ts';
import type { Origin } from './icons.ts';
import { LateMoneyOfEvent, LateMoneyOfPayment, viewLateMoneyOfEvent } from './late-money.ts';
import { MetadataBody, OrderBody, viewOrder } from './payment-details.ts';
import { PaymentRefunds, RefundableField, type RefundRow, viewRefundable, viewRefunds } from './refund.ts';

/** The status answer of a payment. Like all public shapes, it shows the visible status. */
export function viewStatus(origin: Origin, payment: PaymentGlance, nowMs: number) {
  const status = visibleStatus(stateOf(payment), nowMs);
  return {
    status,
    isFinal: isFinal(status),
    pollInMs: pollInMs(status),
    info: viewInfo(origin, payment),
    ...(status === 'failed' && { failureCode: payment.failureCode }),
  };
}

export function viewDetails(origin: Origin, shown: ShownDetails) {
  const { payment, details, settlement, net, refunds, refundable, nowMs } = shown;
  const status = visibleStatus(stateOf(payment), nowMs);
  return {
    paymentId: payment.id,
    id: payment.id,
    merchantId: payment.merchantId,
    referenceId: payment.referenceId,
    amount: viewAmount(origin, payment.amountUnit, payment.amountValue, payment.amountDecimals),
    status,
    createdAt: payment.createdAt.toISOString(),
    expiresAt: payment.expiresAt.getTime() / 1000,
    gatewayUrl: gatewayUrl(origin.publicUrl, payment.id),
    acceptedAssets: payment.acceptedAssets as string[] | null,
    ...(status === 'failed' && { failureCode: payment.failureCode }),
    info: viewInfo(origin, payment),
    settlement: settlement === undefined ? null : viewSettlement(settlement, net),
    ...viewRefunds(origin, payment, refunds),
    ...(refundable !== undefined && { refundable: viewRefundable(origin, payment, refundable) }),
    ...viewOrder(origin, details),
    metadata: details.metadata ?? null,
  };
}

/** A payment in one of its events, which may report one amount of late money. */
export function viewDetailsOfEvent(
  origin: Origin,
  shown: ShownDetails & { readonly lateMoney: LateMoney | undefined },
) {
  const { lateMoney } = shown;
  const details = viewDetails(origin, shown);
  return { ...details, ...(lateMoney !== undefined && { lateMoney: viewLateMoneyOfEvent(origin, lateMoney) }) };
}

export interface ShownDetails {
  readonly payment: Payment;
  readonly details: PaymentDetails;
  readonly settlement: PaymentSettlement | undefined;
  /** The paid amount minus its fee. Undefined in an event. */
  readonly net?: bigint | undefined;
  readonly refunds: readonly (RefundRow & Partial<WaitingRefund>)[];
  /** The amount that can still be refunded. Undefined in an event. */
  readonly refundable?: Refundable | null;
  readonly nowMs: number;
}

/** The settlement of a payment. A sweep also moves late money, so the amount is at most the payment's net amount. */
function viewSettlement({ asset, amount, recipient, transactionHash }: PaymentSettlement, net: bigint | undefined) {
  const unit = tokenUnitId(asset);
  if (net === undefined) return { successful: { amount: { unit }, txId: transactionHash } };
  const value = BigInt(amount) > net ? net.toString() : amount;
  const destination = `${asset.slice(0, asset.indexOf('/'))}:${recipient}`;
  return { successful: { amount: { unit, value }, destination, txId: transactionHash } };
}

function viewInfo(origin: Origin, { status, transactionHash, tokenAsset, tokenValue }: PaymentGlance) {
  if (status !== 'succeeded' || transactionHash === null || tokenAsset === null || tokenValue === null) return null;
  return { optionAmount: viewToken(origin, tokenAsset, tokenValue), txId: transactionHash };
}

export const PaymentStatusField = namedEnum('PaymentStatus', PAYMENT_STATUSES);

const FailureCodeField = Type.Optional(nullable(enumOf(['declined_user'], 'Only with status `failed`.')));
const InfoBody = Type.Unsafe<ReturnType<typeof viewInfo>>({
  description: 'The paid amount, on success; null otherwise.',
  ...Type.Object(
    { optionAmount: AmountBody, txId: Type.String({ description: 'Transaction id.' }) },
    { title: 'PaidWith' },
  ),
  type: ['object', 'null'],
});

export const StatusBody = Type.Object(
  {
    status: PaymentStatusField,
    isFinal: Type.Boolean({ description: 'True when there is nothing left to poll for.' }),
    pollInMs: nullable(
      Type.Integer({ minimum: 0, description: 'Wait this long before polling again; null when final.' }),
    ),
    info: InfoBody,
    failureCode: FailureCodeField,
  },
  { title: 'PaymentState', description: 'The status.' },
);

const DETAILS = {
  paymentId: Type.String({ examples: ['pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'] }),
  id: Type.String({ description: 'The same as `paymentId`.', examples: ['pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'] }),
  merchantId: Type.String(),
  referenceId: Type.String(),
  amount: AmountBody,
  status: PaymentStatusField,
  createdAt: Timestamp,
  expiresAt: Type.Integer({ minimum: 0, description: 'Seconds since the epoch.' }),
  gatewayUrl: Type.String({ description: 'The URL of the checkout.' }),
  acceptedAssets: acceptedAssetsField(
    'The assets that it can be paid with: those that partner, merchant and payment accept, as it was created.',
  ),
  failureCode: FailureCodeField,
  info: InfoBody,
  settlement: Type.Unsafe<ReturnType<typeof viewSettlement> | null>({
    ...Type.Object(
      {
        successful: Type.Object(
          {
            amount: Type.Object(
              {
                unit: Type.String(),
                value: Type.Optional(
                  Type.String({ description: 'The part of the payment that has reached it. Not in events.' }),
                ),
              },
              { title: 'SettledAmount' },
            ),
            destination: Type.Optional(
              Type.String({ description: 'The account that got it, CAIP-10. Not in events.' }),
            ),
            txId: Type.String(),
          },
          { title: 'SettlementTransfer' },
        ),
      },
      { title: 'PaymentSettlement' },
    ),
    type: ['object', 'null'],
    description: 'The transfer to the merchant, once it has been made; null before.',
  }),
  ...PaymentRefunds,
  refundable: RefundableField,
  ...OrderBody,
  metadata: MetadataBody,
};

export const DetailsBody = Type.Object(
  { ...DETAILS, lateMoney: LateMoneyOfPayment },
  { title: 'Payment', description: 'The payment.' },
);

export const EventDetailsBody = Type.Object({ ...DETAILS, lateMoney: LateMoneyOfEvent }, { title: 'PaymentData' });
