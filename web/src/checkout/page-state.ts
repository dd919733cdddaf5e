import type { LateMoney } from '../shared/late-money.ts';
import type { Amount } from '../shared/money.ts';
import type { Sandbox } from '../shared/networks.ts';
import type { RefundStrings } from './refund/refund-strings.ts';
import type { Strings } from './strings/en.ts';

/**
 * The server's state when it renders the page. It is in the document as JSON and is the first state of the script, so
 * the first paint and the first render are the same.
 */
export type PageState = PaymentPage | RefundPage | MessagePage;

/** A page of a payment that exists. */
export interface PaymentPage extends Language {
  readonly kind: 'payment';
  readonly paymentId: string;
  /** The public App-Id the page calls the gateway with. */
  readonly appId: string;
  readonly gatewayUrl: string;
  /** The page of the receipt, once the payment has succeeded; null if the id alone does not lead to it. */
  readonly receiptUrl: string | null;
  /** The link for QR codes and wallet apps; missing where that is the gateway URL. */
  readonly qrUrl?: string;
  /** The server's clock when it rendered: payers' clocks may be wrong by hours. */
  readonly nowMs: number;
  readonly payment: PaymentView;
  /** The URLs to which the payer returns at the end; without them the page ends on its own screen. */
  readonly checkout: { readonly successUrl: string; readonly errorUrl: string } | null;
  /** The merchant's own words for the order. Untrusted text, as is the merchant's name. */
  readonly referenceId: string;
  /** The items of the order in the merchant's words: untrusted text too. */
  readonly description?: string | null;
  readonly lineItems?: readonly LineItem[] | null;
  /** The tokens that can be sent to an address of the payment, each with its whole amount. */
  readonly sendable: readonly Amount[];
  /** The token (CAIP-19) that has come to an address of this payment; missing if none has. */
  readonly paidInto?: string;
  readonly sandbox: Sandbox | null;
  /** Set if a wallet on another device can be paired by a code. */
  readonly pairing: Pairing | null;
  /** True if the gateway mails receipts. */
  readonly mailsReceipts?: boolean;
  /** True if the partner has listed origins that may embed the page. */
  readonly embedder: boolean;
}

export interface Pairing {
  /** Public: the relay counts connections by it. */
  readonly projectId: string;
  /** The origin of the relay, `wss://…`. */
  readonly relayUrl: string;
  /** The networks that take this payment, CAIP-2; never empty. */
  readonly networks: readonly string[];
}

export interface LineItem {
  readonly name: string;
  readonly quantity?: number | null;
  readonly amount?: Amount | null;
}

/** The page on which the account that received a payment signs for a refund. */
export interface RefundPage extends Language {
  readonly kind: 'refund';
  /** The public App-Id the page calls the gateway with. */
  readonly appId: string;
  /** The refund and the secret of this link, for the routes of the gateway. */
  readonly code: string;
  readonly refund: RefundView;
  readonly refundStrings: RefundStrings;
  readonly sandbox: Sandbox | null;
}

export interface RefundView {
  readonly refundId: string;
  readonly status: 'requested' | 'awaiting_funds' | 'sending' | 'refunded' | 'failed';
  readonly amount: Amount;
  /** The part of the amount that was the operator's fee; null if there was none. */
  readonly fee: Amount | null;
  /** True if the operator's float returns the fee to the merchant's float. */
  readonly isFeeReturned: boolean;
  /** The account that gets the refund, CAIP-10. */
  readonly destination: string;
  /** The account that signs, CAIP-10; null if the merchant cannot sign for the refund. */
  readonly account: string | null;
  readonly merchant: { readonly name: string; readonly iconUrl: string | null };
  readonly waitingFor:
    | 'float'
    | 'merchant_signature'
    | 'network'
    | 'unfreeze'
    | 'cooling_off'
    | 'sweep'
    | 'debt'
    | 'arrival'
    | null;
  readonly transaction: TransactionView | null;
  readonly attempt: Attempt | null;
}

/** A page without a payment. */
export interface MessagePage extends Language {
  readonly kind: 'not_found' | 'unavailable';
}

interface Language {
  /** BCP 47, one of `LOCALES`. */
  readonly locale: string;
  readonly dir: 'ltr' | 'rtl';
  readonly strings: Strings;
}

export type PaymentStatus = 'requires_action' | 'processing' | 'succeeded' | 'failed' | 'expired' | 'cancelled';

export interface PaymentView {
  readonly status: PaymentStatus;
  readonly isFinal: boolean;
  readonly amount: Amount;
  /** Unix seconds. */
  readonly expiresAt: number;
  readonly merchant: { readonly name: string; readonly iconUrl: string | null };
  readonly buyer: {
    readonly accountCaip10: string;
    readonly accountProviderName: string;
    readonly accountProviderIcon?: string | null;
  } | null;
  /** The transaction of the payment, if one was sent. */
  readonly transaction: TransactionView | null;
  /** The last refused attempt to carry the payment out; missing or null if there is none. */
  readonly attempt?: Attempt | null;
  /** The paid amount, and its transaction. */
  readonly info: PaidInfo | null;
  readonly failureCode?: string | null;
  /** Money that has arrived and did not count. Missing in an answer of an older node. */
  readonly lateMoney?: readonly LateMoney[];
}

export interface Attempt {
  /** A reason such as `short_balance`, `paused` or `payer_blacklisted`. */
  readonly refusal: string;
  /** Unix seconds. The gateway retries until then. */
  readonly triesUntil: number;
}

export interface TransactionView {
  readonly txId: string;
  /** Null for a network without a block explorer. */
  readonly explorerUrl: string | null;
}

export interface PaidInfo extends TransactionView {
  readonly optionAmount: Amount;
}
