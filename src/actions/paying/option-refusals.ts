import { type PaymentStatus, visibleStatus } from '../../domain/payment.ts';
import type { StockRefusal } from '../../domain/payment-link.ts';
import { ApiError } from '../../errors.ts';
import type { Screening } from '../../screening/screening.ts';
import { type Payment, stateOf } from '../../store/payments/payments.ts';

/** Throws if an account is on the screening list. Returns the decision, which names the list. */
export function refuseScreened(screening: Screening, accounts: readonly string[]) {
  const decision = screening.decide(accounts);
  if (decision.hits.length > 0) throw new ApiError('sanctioned_user', 'This account cannot pay here.');
  return decision;
}

/** True if an unpaid payment is past its expiry and has not ended, for example because a transaction in native coin may still arrive. */
export function isOverdue({ status, expiresAt }: Payment, nowMs: number): boolean {
  return status === 'requires_action' && nowMs >= expiresAt.getTime();
}

/** Throws unless the payment waits for its first action, and has time left. */
export function refuseUnpayable(payment: Payment, nowMs: number): void {
  const status = visibleStatus(stateOf(payment), nowMs);
  if (status === 'expired' || isOverdue(payment, nowMs)) throw paymentExpired();
  if (status !== 'requires_action') throw notPayable(status);
}

export function paymentExpired(): ApiError {
  return new ApiError('payment_expired', 'The payment has expired.');
}

export function notPayable(status: PaymentStatus): ApiError {
  return new ApiError('invalid_state', `The payment cannot be paid: it is ${status}.`);
}

/** The error if the merchant or its partner is suspended or frozen. The answer to the payer does not name which, or why. */
export function merchantStopped(): ApiError {
  return new ApiError('invalid_state', MERCHANT_STOPPED);
}

export const MERCHANT_STOPPED = 'The merchant takes no payments at the moment.';

/** The error if the fees were raised after the payment was created, and its price does not cover them. */
export function belowFees(): ApiError {
  return new ApiError('invalid_state', BELOW_FEES);
}

export const BELOW_FEES = 'The fees have changed, and the price does not cover them any more. Ask for a new payment.';

/** The error if the payment's link has no piece for the payment now. It may have one later. */
export function outOfStock(refusal: StockRefusal): ApiError {
  return new ApiError('invalid_state', STOCK_REFUSALS[refusal]);
}

export const STOCK_REFUSALS: Readonly<Record<StockRefusal, string>> = {
  sold_out: 'Sold out: others have taken the last piece.',
  stock_uncertain: 'The stock is being counted again. Try again in some minutes.',
};

/** The error for an unknown option. Wallets search for exactly this message. */
export function optionNotFound(): ApiError {
  const issues = [{ field: 'optionId', message: 'is not an option of this payment' }];
  return new ApiError('params_validation', 'Validation error: Option not found', { issues });
}

export function quoteExpired(): ApiError {
  return new ApiError('quote_expired', 'The option has expired: ask for options again.');
}

export function noExecutor(): ApiError {
  return new ApiError(
    'executor_not_found',
    'Payments are not taken on this network at the moment: ask for options again.',
  );
}

export function balanceUnderWay(): ApiError {
  const message = 'This account needs its balance for payments under way. Wait until one of them has ended.';
  return new ApiError('rate_limited', message, { retryAfterS: 5 });
}

export function payerBusy(): ApiError {
  const message = 'This account has too many payments under way. Wait until one of them has ended.';
  return new ApiError('rate_limited', message, { retryAfterS: 5 });
}

export function tooManyActions(retryAfterS: number): ApiError {
  const message =
    'Too many transactions were prepared for this payment. Send one of them, or wait until they have run out.';
  return new ApiError('rate_limited', message, { retryAfterS });
}
