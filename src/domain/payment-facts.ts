import { parseAccount } from './caip.ts';
import type { Buyer, FailureCode, PaymentEvent, PaymentStatus, TokenAmount } from './payment.ts';

/**
 * The facts of a payment that change during its life; everything else stays as created. Each event of a payment records these
 * facts after its change, so that the payment can be shown as it was at that time.
 */
export interface PaymentFacts {
  readonly status: PaymentStatus;
  readonly updatedAt: Date;
  readonly failureCode: FailureCode | null;
  /** The latest deadline on chain of a payment in native coin that was handed out to a payer. The payer may still pay until then. */
  readonly nativeDeadline: Date | null;
  /** The paid token. Known from the confirmation on, or from the start if the price is in a token. */
  readonly tokenAsset: string | null;
  readonly tokenValue: string | null;
  readonly buyerAccount: string | null;
  readonly buyerName: string | null;
  readonly buyerIcon: string | null;
  readonly transactionHash: string | null;
  readonly transactionNonce: string | null;
}

/** The fields of a payment that determine its first facts. */
interface Created {
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly amountUnit: string;
  readonly amountValue: string;
}

const TOKEN_UNIT = 'caip19/';

function firstFacts({ createdAt, amountUnit, amountValue }: Created): PaymentFacts {
  const isInToken = amountUnit.startsWith(TOKEN_UNIT);
  return {
    status: 'requires_action',
    updatedAt: createdAt,
    failureCode: null,
    nativeDeadline: null,
    tokenAsset: isInToken ? amountUnit.slice(TOKEN_UNIT.length) : null,
    tokenValue: isInToken ? amountValue : null,
    buyerAccount: null,
    buyerName: null,
    buyerIcon: null,
    transactionHash: null,
    transactionNonce: null,
  };
}

export function factsAfter(
  payment: PaymentFacts & Created,
  event: PaymentEvent,
  { to, at }: { readonly to: PaymentStatus; readonly at: Date },
): PaymentFacts {
  // The facts about the payer are cleared, because the payment waits for a payer again. The native deadline is kept if deposit
  // addresses stay open, because money may still arrive there.
  if (event.type === 'lapsed') {
    const nativeDeadline = event.keepsAddresses ? payment.nativeDeadline : null;
    return { ...firstFacts(payment), nativeDeadline, updatedAt: at };
  }
  // A payment that expired by the clock ended at its expiry, not when the expiry job noticed it.
  const updatedAt = event.type === 'expired' && event.proof === 'clock' ? payment.expiresAt : at;
  return { ...factsOf(payment), ...madeKnown(event), status: to, updatedAt };
}

function madeKnown(event: PaymentEvent): Partial<PaymentFacts> {
  switch (event.type) {
    case 'confirmed':
      return paidBy(event);
    case 'succeeded': {
      const { hash, nonce } = event.transaction;
      return { ...paidBy(event), transactionHash: hash, transactionNonce: nonce === null ? null : String(nonce) };
    }
    case 'failed':
      return { failureCode: event.failureCode };
    default:
      return {};
  }
}

function paidBy({ buyer, token }: { readonly buyer: Buyer; readonly token: TokenAmount }): Partial<PaymentFacts> {
  return {
    buyerAccount: inOneSpelling(buyer.account),
    buyerName: buyer.name,
    buyerIcon: buyer.icon,
    tokenAsset: token.asset,
    tokenValue: token.value.toString(),
  };
}

/** The account in canonical spelling. Wallets may spell addresses in lower case; with one spelling, each customer is counted once. */
function inOneSpelling(account: string): string {
  const parsed = parseAccount(account);
  return parsed.ok ? parsed.value.id : account;
}

function factsOf(facts: PaymentFacts): PaymentFacts {
  const { status, updatedAt, failureCode, nativeDeadline, tokenAsset, tokenValue } = facts;
  const { buyerAccount, buyerName, buyerIcon, transactionHash, transactionNonce } = facts;
  const buyer = { buyerAccount, buyerName, buyerIcon };
  const token = { tokenAsset, tokenValue };
  return { status, updatedAt, failureCode, nativeDeadline, ...token, ...buyer, transactionHash, transactionNonce };
}

/** The facts that are known (not null), in the form in which an event stores them. */
export function recordFacts(facts: PaymentFacts): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(factsOf(facts)).filter(([, value]) => value !== null));
}

/** The payment as it was after the event that stored this record. The record of a new payment is empty. */
export function withRecordedFacts<P extends PaymentFacts & Created>(
  payment: P,
  record: Readonly<Record<string, unknown>>,
): P {
  const first = firstFacts(payment);
  if (record.status === undefined) return { ...payment, ...first };
  const unknown = Object.fromEntries(Object.keys(first).map((name) => [name, null]));
  const known = Object.fromEntries(
    Object.keys(first).flatMap((name) => (name in record ? [[name, record[name]]] : [])),
  );
  const { updatedAt, nativeDeadline } = record as { updatedAt: string; nativeDeadline?: string };
  const times = {
    updatedAt: new Date(updatedAt),
    nativeDeadline: nativeDeadline === undefined ? null : new Date(nativeDeadline),
  };
  return { ...payment, ...unknown, ...known, ...times };
}
