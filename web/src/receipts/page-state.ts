import type { LateMoney } from '../shared/late-money.ts';
import type { Amount } from '../shared/money.ts';

/** The page of a receipt. It has no script: the server renders everything. */
export type ReceiptPageState = ReceiptPage | ReceiptMessage;

interface InLanguage {
  /** BCP 47. */
  readonly locale: string;
  readonly dir: 'ltr' | 'rtl';
}

export interface ReceiptPage extends InLanguage {
  readonly kind: 'receipt';
  readonly isTest: boolean;
  /** True if the merchant hides the gateway's name. */
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
  /** The amount in the token that was paid. */
  readonly paid: Amount;
  /** The account that paid, CAIP-10. Null if it was erased. */
  readonly account: string | null;
  /** The transactions on chain that paid. There are several if money was sent to a deposit address in parts. */
  readonly transactions: readonly Transaction[];
  /** The refunds whose money has arrived. */
  readonly refunds: readonly (Transaction & { readonly price: Amount; readonly at: string })[];
  /** Money that arrived and did not count for the payment. */
  readonly lateMoney: readonly LateMoney[];
  /** The links to verify the receipt. Null if the receipt cannot be signed at present. */
  readonly proof: { readonly receiptUrl: string; readonly keysUrl: string; readonly scriptUrl: string } | null;
  /** The URL of this page. `checkoutUrl` is the URL of the checkout. */
  readonly url: string;
  readonly checkoutUrl: string;
}

interface Transaction {
  readonly txId: string;
  /** The page of the transaction in a block explorer. Null if the network has none. */
  readonly explorerUrl: string | null;
}

interface ReceiptMessage extends InLanguage {
  readonly kind: 'not_found' | 'unavailable' | 'busy';
}

/** The content of a receipt in the payer's language, for the page and for the PDF. */
export interface Sheet extends InLanguage {
  readonly title: string;
  readonly shop: string;
  readonly warning: string | null;
  readonly total: string;
  readonly sections: readonly Section[];
  /** The text with the number of the page, in which `{page}` and `{pages}` are filled in. */
  readonly pageNumber: string;
}

export interface Section {
  readonly title: string | null;
  readonly text?: string;
  readonly rows: readonly Row[];
  readonly commands?: readonly string[];
}

export interface Row {
  readonly label: string;
  readonly value: string;
  /** True for a hash or an account. It is written left to right, and a line may break at any of its characters. */
  readonly isCode?: boolean;
  readonly isTotal?: boolean;
  readonly href?: string | null;
}

export type PaperSize = 'a4' | 'letter' | 'roll';
