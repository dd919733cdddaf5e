import { Type } from 'typebox';
import { findAsset } from '../../chains/networks.ts';
import { tokenUnitId } from '../../chains/units.ts';
import { isFinal, PAYMENT_STATUSES, pollInMs, visibleStatus } from '../../domain/payment.ts';
import { type Payment, type PaymentGlance, stateOf } from '../../store/payments.ts';
import { enumOf, nullable } from '../schemas.ts';
import { AmountBody, viewAmount } from './amount.ts';

/** The public shapes of a payment. They show the status that holds now, whether or not the sweeper has been by. */
export function viewStatus(payment: PaymentGlance, nowMs: number) {
  const status = visibleStatus(stateOf(payment), nowMs);
  return {
    status,
    isFinal: isFinal(status),
    pollInMs: pollInMs(status),
    info: viewInfo(payment),
    ...(status === 'failed' && { failureCode: payment.failureCode }),
  };
}

export function viewDetails(payment: Payment, nowMs: number) {
  const status = visibleStatus(stateOf(payment), nowMs);
  return {
    referenceId: payment.referenceId,
    status,
    ...(status === 'failed' && { failureCode: payment.failureCode }),
    info: viewInfo(payment),
    settlement: null,
  };
}

function viewInfo({ status, transactionHash, tokenAsset, tokenValue }: PaymentGlance) {
  if (status !== 'succeeded' || transactionHash === null || tokenAsset === null || tokenValue === null) return null;
  return { optionAmount: viewToken(tokenAsset, tokenValue), txId: transactionHash };
}

export function viewToken(asset: string, value: string) {
  return viewAmount(tokenUnitId(asset), value, findAsset(asset)?.decimals ?? 0);
}

export const PaymentStatusField = enumOf(PAYMENT_STATUSES);

const FailureCodeField = Type.Optional(nullable(enumOf(['declined_user'], 'Only with status `failed`.')));
const InfoBody = Type.Unsafe<ReturnType<typeof viewInfo>>({
  description: 'What was paid, on success; null otherwise.',
  ...Type.Object({ optionAmount: AmountBody, txId: Type.String({ description: 'Transaction id.' }) }),
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
  { description: 'The status.' },
);

export const DetailsBody = Type.Object(
  {
    referenceId: Type.String(),
    status: PaymentStatusField,
    failureCode: FailureCodeField,
    info: InfoBody,
    settlement: Type.Null({ description: 'The transfer to the merchant, once it has been made.' }),
  },
  { description: 'The payment.' },
);
