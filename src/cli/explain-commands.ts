import { type Explanation, explainPayment } from '../actions/oversight/explain-payment.ts';
import type { Chains } from '../chains/chains.ts';
import type { Registry } from '../chains/registry.ts';
import { storedUnit, tokenUnitId } from '../chains/units.ts';
import { symbolText } from '../domain/money.ts';
import { limitOfWait } from '../domain/waiting-states.ts';
import { ApiError } from '../errors.ts';
import { gasBudgets } from '../settings/chains.ts';
import { findMerchantOfAnyPartner } from '../store/parties/merchants.ts';
import { findPaymentDetails, type PaymentDetails } from '../store/payments/payment-details.ts';
import { findPayments, type Payment } from '../store/payments/payments.ts';
import { withKnownChains } from './chains.ts';
import { type Command, databaseCommand, type Output } from './command.ts';
import type { OperatorDeps } from './connect.ts';
import { id } from './kinds.ts';
import { required } from './options.ts';
import { layoutFields, layoutTable, printable } from './table.ts';

/** The most entries of a payment's history that are printed. If there are more, only the newest ones are printed. */
const MAX_ENTRIES = 1_000;

const explain = databaseCommand({
  name: 'explain',
  summary: 'Show everything that happened to a payment of any partner, why it waits, and what ends the wait.',
  positionals: { id: required(id, 'The payment.') },
  examples: ['explain pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6', 'explain pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6 --json'],
  run: (deps, { id: paymentId }) => withKnownChains(deps, (chains) => describeExplanation(deps, chains, paymentId)),
});

export const explainCommands: readonly Command[] = [explain];

export async function describeExplanation(
  { db, world, config }: Pick<OperatorDeps, 'db' | 'world' | 'config'>,
  chains: Chains,
  paymentId: string,
): Promise<Output> {
  const [payment] = await findPayments(db.sql, [paymentId]);
  if (payment === undefined) throw new ApiError('payment_not_found', `There is no payment ${paymentId}.`);
  const [details, merchant] = await Promise.all([
    findPaymentDetails(db.sql, paymentId),
    findMerchantOfAnyPartner(db.sql, payment.merchantId),
  ]);
  const explanation = await explainPayment(
    { db: db.sql, registry: config.registry, clock: world.clock, chains, relaying: gasBudgets(config) },
    { payment, audience: 'operator', limit: MAX_ENTRIES },
  );
  const { status, entries, omitted, wait } = explanation;
  const parts = [
    describe(config.registry, payment, explanation, merchant?.name, details),
    history(explanation),
    waitText(explanation),
  ];
  return {
    json: {
      ...payment,
      ...details,
      status,
      storedStatus: payment.status,
      timeline: entries.map(({ at, what, text, evidence, internals }) => ({
        at,
        what,
        text,
        ...evidence,
        ...internals,
      })),
      omitted,
      waiting: wait ? { ...waitJson(wait), limit: limitOfWait(status) ?? null } : null,
    },
    text: parts.join('\n\n'),
  };
}

function describe(
  registry: Registry,
  payment: Payment,
  { status }: Explanation,
  merchantName: string | undefined,
  { description, metadata, lineItems }: PaymentDetails,
): string {
  const { tokenAsset, tokenValue } = payment;
  const isNoted = status === payment.status;
  return layoutFields({
    payment: payment.id,
    status: isNoted ? status : `${status} (since it expired; not noted yet)`,
    ...(payment.failureCode !== null && { 'failure code': payment.failureCode }),
    amount: pricedText(registry, payment.amountUnit, payment.amountValue, payment.amountDecimals),
    reference: payment.referenceId,
    merchant: [payment.merchantId, ...(merchantName === undefined ? [] : [`(${merchantName})`])].join(' '),
    partner: payment.partnerId,
    mode: payment.mode,
    created: payment.createdAt,
    changed: payment.updatedAt,
    expires: payment.expiresAt,
    'payable on chain until': payment.nativeDeadline,
    'paid with': tokenAsset && tokenValue ? pricedText(registry, tokenUnitId(tokenAsset), tokenValue, 0) : tokenAsset,
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

/** An amount such as `12.50 USD`. If the unit is a token, the asset id follows, because symbols are ambiguous. */
function pricedText(registry: Registry, unitId: string, value: string, decimals: number): string {
  const { symbol, decimals: places, token } = storedUnit(registry, unitId, decimals);
  const amount = symbolText({ units: BigInt(value), decimals: places }, symbol);
  return token === undefined ? amount : `${amount} (${token.asset})`;
}

function history({ entries, omitted }: Explanation): string {
  const table = layoutTable(entries, [
    { title: 'at', cell: ({ at }) => at },
    { title: 'what', cell: ({ what }) => what },
    { title: 'how', cell: ({ text }) => text },
  ]);
  return omitted === 0 ? table : `${omitted} older entries are left out.\n${table}`;
}

function waitText({ status, wait }: Explanation): string {
  if (wait === undefined) return `Nothing more is to come: it is ${status}.`;
  const limit = limitOfWait(status);
  return `Why it waits: ${printable(wait.text)}${limit === undefined ? '' : `\n${limit}`}`;
}

function waitJson({ cause, reason, text, sinceMs, untilMs }: NonNullable<Explanation['wait']>) {
  const until = untilMs === undefined ? {} : { until: new Date(untilMs) };
  return { cause, reason, text, since: new Date(sinceMs), ...until };
}
