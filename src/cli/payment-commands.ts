import { storedUnit, tokenUnitId } from '../chains/units.ts';
import { formatForPeople } from '../domain/money.ts';
import { visibleStatus } from '../domain/payment.ts';
import { ApiError } from '../errors.ts';
import { listEvents, type StoredEvent } from '../store/events/events.ts';
import { findMerchantOfAnyPartner } from '../store/parties/merchants.ts';
import { findPaymentDetails, type PaymentDetails } from '../store/payments/payment-details.ts';
import { findPayments, type Payment, stateOf } from '../store/payments/payments.ts';
import { type Command, databaseCommand } from './command.ts';
import { id } from './kinds.ts';
import { required } from './options.ts';
import { layoutFields, layoutTable } from './table.ts';

const show = databaseCommand({
  name: 'payments show',
  summary: 'Show a payment of any partner, and everything that happened to it.',
  positionals: { id: required(id, 'The payment.') },
  options: {},
  examples: ['payments show pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6', 'payments show pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6 --json'],
  run: async ({ db, world }, { id: paymentId }) => {
    const [payment] = await findPayments(db.sql, [paymentId]);
    if (payment === undefined) throw new ApiError('payment_not_found', `There is no payment ${paymentId}.`);
    const details = await findPaymentDetails(db.sql, paymentId);
    const events = await listEvents(db.sql, paymentId);
    const merchant = await findMerchantOfAnyPartner(db.sql, payment.merchantId);
    const status = visibleStatus(stateOf(payment), world.clock.nowMs());
    return {
      json: { ...payment, status, storedStatus: payment.status, ...details, events },
      text: `${describe(payment, status, merchant?.name, details)}\n\n${history(events)}`,
    };
  },
});

export const paymentCommands: readonly Command[] = [show];

function describe(
  payment: Payment,
  status: string,
  merchantName: string | undefined,
  { description, metadata, lineItems }: PaymentDetails,
): string {
  const { tokenAsset, tokenValue } = payment;
  const isNoted = status === payment.status;
  return layoutFields({
    payment: payment.id,
    status: isNoted ? status : `${status} (since it expired; not noted yet)`,
    ...(payment.failureCode !== null && { 'failure code': payment.failureCode }),
    amount: amountText(payment.amountUnit, payment.amountValue, payment.amountDecimals),
    reference: payment.referenceId,
    merchant: [payment.merchantId, ...(merchantName === undefined ? [] : [`(${merchantName})`])].join(' '),
    partner: payment.partnerId,
    mode: payment.mode,
    created: payment.createdAt,
    changed: payment.updatedAt,
    expires: payment.expiresAt,
    'payable on chain until': payment.nativeDeadline,
    'paid with': tokenAsset && tokenValue ? amountText(tokenUnitId(tokenAsset), tokenValue, 0) : tokenAsset,
    buyer: payment.buyerAccount,
    wallet: payment.buyerName,
    transaction: payment.transactionHash,
    'on success': payment.successUrl,
    'on error': payment.errorUrl,
    ...(description && { description }),
    ...(metadata && { metadata: JSON.stringify(metadata) }),
    ...(lineItems && { 'line items': lineItems.map(({ name, quantity = 1 }) => `${quantity} × ${name}`).join('; ') }),
  });
}

/** `12.50 USD`, with the asset id where a symbol is ambiguous. */
function amountText(unitId: string, value: string, decimals: number): string {
  const { symbol, decimals: places, token } = storedUnit(unitId, decimals);
  const amount = `${formatForPeople({ units: BigInt(value), decimals: places })} ${symbol}`;
  return token === undefined ? amount : `${amount} (${token.asset})`;
}

function history(events: readonly StoredEvent[]): string {
  return layoutTable(events, [
    { title: 'at', cell: ({ at }) => at },
    { title: 'event', cell: ({ type }) => type },
    { title: 'by', cell: ({ actor }) => actor },
    { title: 'evidence', cell: ({ evidence }) => JSON.stringify(evidence) },
  ]);
}
