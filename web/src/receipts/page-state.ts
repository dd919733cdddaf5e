import type { LateMoney } from '../shared/late-money.ts';
import type { Amount } from '../shared/money.ts';

/** The page of a receipt. The server renders it whole: it has no script. */
export type ReceiptPageState = ReceiptPage | ReceiptMessage;

interface InLanguage {
  /** BCP 47. */
  readonly locale: string;
  readonly dir: 'ltr' | 'rtl';
}

export interface ReceiptPage extends InLanguage {
  readonly kind: 'receipt';
  readonly isTest: boolean;
  /** True if the merchant has switched the name of the gateway off. */
  readonly hidesPoweredBy: boolean;
  readonly merchant: { readonly name: string; readonly iconUrl: string | null };
  /** The payment's id without its prefix. */
  readonly number: string;
  /** ISO 8601. */
  readonly paidAt: string;
  readonly referenceId: string;
  readonly description: string | null;
  readonly lineItems: readonly {
    readonly name: string;
    readonly quantity: number | null;
    readonly amount: Amount | null;
  }[];
  readonly price: Amount;
  /** The paid token. */
  readonly paid: Amount;
  /** The account that paid, CAIP-10; null if it was erased. */
  readonly account: string | null;
  /** The transactions that paid: more than one if money was sent to a deposit address in parts. */
  readonly transactions: readonly Transaction[];
  /** The refunds that have arrived. */
  readonly refunds: readonly (Transaction & { readonly price: Amount; readonly at: string })[];
  /** Money that has arrived and did not count for the payment. */
  readonly lateMoney: readonly LateMoney[];
  /** Null while the receipt cannot be signed. */
  readonly proof: { readonly receiptUrl: string; readonly keysUrl: string; readonly scriptUrl: string } | null;
  /** The address of this page, and that of the checkout. */
  readonly url: string;
  readonly checkoutUrl: string;
}

interface Transaction {
  readonly txId: string;
  /** Null for a network without a block explorer. */
  readonly explorerUrl: string | null;
}

interface ReceiptMessage extends InLanguage {
  readonly kind: 'not_found' | 'unavailable' | 'busy';
}

/** The content of a receipt in the payer's language, for the page and for paper alike. */
export interface Sheet extends InLanguage {
  readonly title: string;
  readonly shop: string;
  /** The warning of a test payment. */
  readonly warning: string | null;
  readonly total: string;
  readonly sections: readonly Section[];
  /** `{page}` and `{pages}` are filled in. */
  readonly pageNumber: string;
}

export interface Section {
  readonly title: string | null;
  readonly text?: string;
  readonly rows: readonly Row[];
  /** Lines for a terminal. */
  readonly commands?: readonly string[];
}

export interface Row {
  readonly label: string;
  readonly value: string;
  /** A hash or an account: left to right, and broken anywhere. */
  readonly isCode?: boolean;
  readonly isTotal?: boolean;
  readonly href?: string | null;
}

export type PaperSize = 'a4' | 'letter' | 'roll';
