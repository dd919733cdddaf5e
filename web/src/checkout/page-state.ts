import type { LateMoney } from '../shared/late-money.ts';
import type { Amount } from '../shared/money.ts';
import type { Coins, Sandbox } from '../shared/networks.ts';
import type { RefundStrings } from './refund/refund-strings.ts';
import type { Strings } from './strings/en.ts';

/** The state from which the server renders the page. The document contains it as JSON, as the first state of the script. */
export type PageState = PaymentPage | RefundPage | MessagePage;

export interface PaymentPage extends Language {
  readonly kind: 'payment';
  readonly paymentId: string;
  /** The public App-Id for the page's requests to the gateway. */
  readonly appId: string;
  readonly gatewayUrl: string;
  /** The URL of the receipt's page, used once the payment has succeeded. Null if the payment's id alone does not open the receipt. */
  readonly receiptUrl: string | null;
  /** The link for QR codes and wallet apps. Missing if that link is the gateway URL. */
  readonly qrUrl?: string;
  /** The server's time when it rendered the page. Payers' clocks may be wrong by hours. */
  readonly nowMs: number;
  readonly payment: PaymentView;
  /** The URLs to which the payer returns after the payment has ended. If null, the payer stays on this page. */
  readonly checkout: { readonly successUrl: string; readonly errorUrl: string } | null;
  /** The merchant's reference of the order. It is untrusted text, like the merchant's name. */
  readonly referenceId: string;
  /** The merchant's description of the order. The description and the line items are untrusted text. */
  readonly description?: string | null;
  readonly lineItems?: readonly LineItem[] | null;
  /** The tokens that can be sent to a deposit address, each with the whole amount. */
  readonly sendable: readonly Amount[];
  /** The token (CAIP-19) that has arrived at a deposit address of this payment. Missing if none has. */
  readonly paidInto?: string;
  readonly coins: Coins;
  readonly sandbox: Sandbox | null;
  /** The relay for pairing with a wallet on another device. Null if pairing is not offered. */
  readonly pairing: Pairing | null;
  readonly mailsReceipts?: boolean;
  /** True if the partner has listed origins that may embed the page. */
  readonly embedder: boolean;
}

export interface Pairing {
  /** The id by which the relay counts connections. It is public. */
  readonly projectId: string;
  /** The origin of the relay, `wss://…`. */
  readonly relayUrl: string;
  /** The networks on which this payment can be paid, CAIP-2. Never empty. */
  readonly networks: readonly string[];
}

export interface LineItem {
  readonly name: string;
  readonly quantity?: number | null;
  readonly amount?: Amount | null;
}

/** The page on which the account that received a payment signs a refund. */
export interface RefundPage extends Language {
  readonly kind: 'refund';
  /** The public App-Id for the page's requests to the gateway. */
  readonly appId: string;
  /** The refund's id and the secret of this link, for the gateway's routes. */
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
  /** True if the operator's float pays the fee back to the merchant's float. */
  readonly isFeeReturned: boolean;
  /** CAIP-10. */
  readonly destination: string;
  /** The account that signs, CAIP-10. Null if the merchant cannot sign the refund. */
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

/** A page without a payment, such as "not found". */
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
  /** The transaction on chain that pays. Null until one is sent. */
  readonly transaction: TransactionView | null;
  /** The last refused attempt to execute the payment. Missing or null if there is none. */
  readonly attempt?: Attempt | null;
  readonly info: PaidInfo | null;
  readonly failureCode?: string | null;
  /** Money that arrived and did not count for the payment. Gateway nodes of an older version do not send it. */
  readonly lateMoney?: readonly LateMoney[];
}

export interface Attempt {
  /** A reason such as `short_balance`, `paused` or `payer_blacklisted`. */
  readonly refusal: string;
  /** Unix seconds. The gateway retries until this time. */
  readonly triesUntil: number;
}

export interface TransactionView {
  readonly txId: string;
  /** The page of the transaction in a block explorer. Null if the network has none. */
  readonly explorerUrl: string | null;
}

export interface PaidInfo extends TransactionView {
  readonly optionAmount: Amount;
}
