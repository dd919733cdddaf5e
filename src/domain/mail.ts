import type { LateReason, LateState } from './late-money.ts';

export const LANGUAGES = ['ar', 'de', 'en', 'es', 'fr', 'ja', 'pt'] as const;
export type Language = (typeof LANGUAGES)[number];

/** The values of a mail, by kind. The texts are in `src/mail`. */
export type MailContent =
  | {
      readonly kind: 'invitation' | 'sign_in_link';
      readonly name: string;
      readonly site: string;
      readonly until: string;
    }
  | AlertContent
  | ReceiptContent;

export type MailKind = MailContent['kind'];

export interface AlertContent {
  readonly kind: 'alert_raised' | 'alert_cleared';
  readonly name: string;
  readonly about: string;
  readonly message: string;
  readonly site: string;
  /** The time at which the alert was raised or cleared. */
  readonly at: string;
  /** The number of alerts that wait to be mailed, because the limit of mails per hour is reached. */
  readonly waiting: number;
}

/** An amount in minor units. */
export interface MailedAmount {
  readonly value: string;
  readonly decimals: number;
  readonly symbol: string;
}

export interface MailedLateMoney {
  readonly amount: MailedAmount;
  readonly reason: LateReason;
  /**
   * The state of the return of this late money. Missing in mails of an older version. Nobody had returned the money of those
   * mails.
   */
  readonly status?: LateState;
}

export interface ReceiptContent {
  readonly kind: 'receipt';
  readonly merchant: string;
  readonly reference: string;
  readonly description: string | null;
  readonly lineItems: readonly {
    readonly name: string;
    readonly quantity: number | null;
    readonly amount: MailedAmount | null;
  }[];
  readonly price: MailedAmount;
  readonly paid: MailedAmount;
  readonly network: string;
  readonly account: string;
  readonly paidAt: string;
  readonly transaction: string;
  /** The page of the transaction in a block explorer. Null for a network without an explorer. */
  readonly explorerUrl: string | null;
  /** The hash of the terms that the payer signed. Null if the money was sent to a deposit address. */
  readonly commitment: string | null;
  readonly refunds: readonly { readonly amount: MailedAmount; readonly transaction: string }[];
  /** Money that arrived and did not count for the payment. Missing in mails of an older version. */
  readonly lateMoney?: readonly MailedLateMoney[];
  readonly pageUrl: string;
  readonly isTest: boolean;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** The waits after the first, second … failed attempt to send a mail. */
export const MAIL_WAITS_MS = [
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  8 * HOUR_MS,
] as const;

/** The time after which the gateway stops trying to send a mail. */
export const MAIL_TRIED_FOR_MS = 24 * HOUR_MS;

/**
 * True if the address is safe in a header and in a command of SMTP: ASCII, without white space, quotes, commas, brackets and
 * control characters.
 */
export function isMailable(address: string): boolean {
  return (
    address.length <= 254 &&
    /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@([A-Za-z0-9]([A-Za-z0-9-]{0,62}[A-Za-z0-9])?\.)*[A-Za-z0-9]([A-Za-z0-9-]{0,62}[A-Za-z0-9])?$/.test(
      address,
    )
  );
}
