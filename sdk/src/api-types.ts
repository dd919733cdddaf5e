/** The bodies of the API. This file is generated from `openapi.json` by `scripts/sdk-types.ts`. */

/** The body of every error. */
export interface ErrorBody {
  code: ErrorCode;
  /** The problem as a sentence for people. */
  message: string;
  /** Every broken field, on validation errors. */
  issues?: Issue[];
  /** Additional details, if there are any. */
  details?: Record<string, unknown>;
}

/** The error code, for programs. */
export type ErrorCode = 'header_not_ascii' | 'invalid_api_version' | 'unknown_api_version' | 'api_version_downgrade' | 'missing_api_key' | 'missing_merchant_api_key' | 'invalid_api_key' | 'unauthorized' | 'missing_merchant_id' | 'missing_auth_headers' | 'missing_app_id' | 'missing_client_id' | 'invalid_app_id' | 'conflicting_auth_headers' | 'forbidden' | 'not_sandbox_api_key' | 'rate_limited' | 'invalid_params' | 'params_validation' | 'merchant_not_found' | 'payment_not_found' | 'idempotency_conflict' | 'invalid_state' | 'payment_expired' | 'quote_expired' | 'sanctioned_user' | 'executor_not_found' | 'payment_not_succeeded' | 'already_refunded' | 'partner_not_found' | 'api_key_not_found' | 'merchant_exists' | 'customer_not_found' | 'wallet_not_found' | 'internal_error';

export interface Issue {
  /** The field or header, such as `settlements[0].asset`. */
  field: string;
  message: string;
}

/** The payment. */
export interface Payment {
  paymentId: string;
  /** The same as `paymentId`. */
  id: string;
  merchantId: string;
  referenceId: string;
  amount: Amount;
  status: PaymentStatus;
  createdAt: Timestamp;
  /** Seconds since the epoch. */
  expiresAt: number;
  /** The URL of the checkout. */
  gatewayUrl: string;
  /** The assets that it can be paid with: those that partner, merchant and payment accept, as it was created. CAIP-19 ids of assets, and CAIP-2 ids for all assets of a network. Null: no limit. */
  acceptedAssets: AcceptedAssets | null;
  /** Only with status `failed`. */
  failureCode?: 'declined_user' | null;
  info: PaidWith | null;
  settlement: PaymentSettlement | null;
  refund?: WholeRefund;
  /** Only if a refund was requested; the oldest first. */
  refunds?: PaymentRefund[];
  refundable?: Refundable | null;
  /** As given. */
  description: string | null;
  /** The given items, with the data to format their amounts. */
  lineItems: LineItem[] | null;
  /** As given. */
  metadata: Record<string, string> | null;
  /** Money that has arrived and did not count for the payment, the oldest first. `POST /v1/late-money/{id}/return` gives one back. */
  lateMoney: LateMoney[];
}

/** The price, if it is in a currency. */
export interface Amount {
  unit: string;
  /** Minor units. */
  value: string;
  display: AmountDisplay;
}

export interface AmountDisplay {
  assetSymbol: string;
  assetName: string;
  decimals: number;
  networkName?: string;
  iconUrl?: string | null;
  networkIconUrl?: string | null;
}

export type PaymentStatus = 'requires_action' | 'processing' | 'succeeded' | 'failed' | 'expired' | 'cancelled';

/** ISO 8601, UTC, with milliseconds. */
export type Timestamp = string;

/** The assets that the merchant's payments can be paid with. The partner's list holds as well. CAIP-19 ids of assets, and CAIP-2 ids for all assets of a network. Null: no limit. */
export type AcceptedAssets = string[];

/** The paid amount, on success; null otherwise. */
export interface PaidWith {
  optionAmount: Amount;
  /** Transaction id. */
  txId: string;
}

/** The transfer to the merchant, once it has been made; null before. */
export interface PaymentSettlement {
  successful: SettlementTransfer;
}

export interface SettlementTransfer {
  amount: SettledAmount;
  /** The account that got it, CAIP-10. Not in events. */
  destination?: string;
  txId: string;
}

export interface SettledAmount {
  unit: string;
  /** The part of the payment that has reached it. Not in events. */
  value?: string;
}

/** Only if one refund gives back the whole payment. `refunds` has all of them. */
export interface WholeRefund {
  status: RefundStatus;
  problem: RefundProblem | null;
  /** The refunded amount: all that was paid. */
  amount: Amount;
  /** The transaction, once it is final. */
  txId: string | null;
  requestedAt: Timestamp;
  lastUpdatedAt: Timestamp;
}

/** The state of the refund; `refunded` is the last one. */
export type RefundStatus = 'requested' | 'awaiting_funds' | 'sending' | 'failed' | 'refunded';

/** Why it has failed; null in any other state. `vetoed`: the operator has ended it, and it takes nothing of the payment. `not_left`: so much is not left of the payment, and it takes nothing either. `recipient_screened`: the recipient is on the screening list. `recipient_blacklisted`: the token refuses the recipient. `not_received`: the transfer could not be carried out. */
export type RefundProblem = 'vetoed' | 'not_left' | 'recipient_screened' | 'recipient_blacklisted' | 'not_received';

export interface PaymentRefund {
  refundId: string;
  status: RefundStatus;
  problem: RefundProblem | null;
  /** The refunded amount, in the paid asset. */
  amount: Amount;
  /** The part of the price that is given back. */
  priceAmount: Amount;
  /** The account that gets it, CAIP-10. */
  destination: string;
  /** Your words, if you gave some. */
  reason: string | null;
  /** The transaction, once it is final. */
  txId: string | null;
  requestedAt: Timestamp;
  lastUpdatedAt: Timestamp;
  waitingFor?: RefundWait | null;
  /** Only while it waits for `merchant_signature`: the page where the account that received the payment signs. It asks for the whole refund, the fee included. Whoever has the link can ask for the request to sign, so give it to the holder of that account alone. */
  signUrl?: string;
}

/** What the refund waits for at this moment. Not in events and lists of payments. */
export interface RefundWait {
  what: RefundWaitReason;
  /** CAIP-19. */
  asset: string;
  /** The amount that is missing; of all others, the amount that waits. */
  amount: Amount;
  since: Timestamp;
  /** Only of `cooling_off`. */
  until?: Timestamp;
}

/** `float`: for money on the intermediate account. `merchant_signature`: for the account that received the payment to sign for the refund at `signUrl`, or for money on the intermediate account. `network`: for the transfer to be final. `unfreeze`: for the operator, who has stopped it. `cooling_off`: for `until`, because it goes to another account than the payer’s. `sweep`: for the money to be swept from its deposit address. `arrival`: for the payment to arrive again, which a reorganisation of the chain took. `debt`: for other money of the payment that such a reorganisation took after it was paid out. */
export type RefundWaitReason = 'float' | 'merchant_signature' | 'network' | 'unfreeze' | 'cooling_off' | 'sweep' | 'debt' | 'arrival';

/** What can still be refunded of the payment, earlier refunds subtracted; vetoed ones take nothing. Null if the payment has not succeeded. Show it, and send the amount that was confirmed. Not in events and lists of payments. */
export interface Refundable {
  /** In the unit of the price. */
  priceAmount: Amount;
  /** In the paid asset. */
  amount: Amount;
}

export interface LineItem {
  name: string;
  quantity: number | null;
  amount: Amount | null;
}

/** The late money. */
export interface LateMoney {
  id: string;
  paymentId: string;
  merchantId: string;
  reason: LateMoneyReason;
  status: LateMoneyStatus;
  /** CAIP-2. */
  network: string;
  /** CAIP-19. */
  asset: string;
  /** All of it. It is returned whole. */
  amount: Amount;
  /** The part of it that the operator took as a fee, or will take. */
  fee: Amount;
  /** The account that sent it, CAIP-10. Null at a deposit address, where the sender may be an exchange. */
  sender: string | null;
  /** The transaction by which it came. Null at a deposit address. */
  txId: string | null;
  /** The account that gets it back, CAIP-10. */
  destination: string | null;
  /** The transaction of its return, once it is final. */
  returnTxId: string | null;
  /** Why the last return did not happen, such as `vetoed` or `recipient_screened`. Another one can be requested. */
  problem: string | null;
  createdAt: Timestamp;
  requestedAt: Timestamp | null;
  /** The wait of the return at this moment; null if it waits for nothing. */
  waitingFor: RefundWait | null;
}

/** `late`: for a payment that was over. `overpaid`: more than asked. `underpaid`: less than asked when the payment ended. `paid_twice`: for a payment that was paid already. `wrong_token` and `wrong_network`: at a deposit address that asked for something else. */
export type LateMoneyReason = 'late' | 'overpaid' | 'underpaid' | 'paid_twice' | 'wrong_token' | 'wrong_network';

/** `unclaimed`: nobody has asked for its return. `requested`: the return cools off or waits. `returning`: it is being sent. `returned`: it has arrived, at final depth. */
export type LateMoneyStatus = 'unclaimed' | 'requested' | 'returning' | 'returned';

/** The new payment. */
export interface CreatedPayment {
  paymentId: string;
  status: PaymentStatus;
  /** Seconds since the epoch. */
  expiresAt: number;
  isFinal: boolean;
  /** The URL of the checkout. */
  gatewayUrl: string;
  pollInMs: number | null;
}

/** The status. */
export interface PaymentState {
  status: PaymentStatus;
  /** True when there is nothing left to poll for. */
  isFinal: boolean;
  /** Wait this long before polling again; null when final. */
  pollInMs: number | null;
  info: PaidWith | null;
  /** Only with status `failed`. */
  failureCode?: 'declined_user' | null;
}

/** It is cancelled. */
export interface CancelledPayment {
  paymentId: string;
  status: string;
  cancelledReason: 'cancelled_by_merchant' | 'cancelled_by_user';
  cancelledAt: Timestamp;
}

/** One page. */
export interface PaymentPage {
  data: ListedPayment[];
  /** Pass it as `cursor` for the next page; null at the end. */
  nextCursor: string | null;
  stats: PaymentStats;
}

export interface ListedPayment {
  paymentId: string;
  merchant: PaymentMerchant;
  referenceId: string;
  status: PaymentStatus;
  /** True when the status is the last one. */
  isTerminal: boolean;
  fiatAmount?: Amount;
  /** The amount in the paid token, once it is known. */
  tokenAmount?: Amount;
  buyer?: Buyer;
  transaction?: PaymentTransaction;
  fees?: PaymentFees;
  settlement?: ListedSettlement;
  refund?: WholeRefund;
  /** Only if a refund was requested; the oldest first. */
  refunds?: PaymentRefund[];
  /** Only if money has arrived that did not count; the oldest first. */
  lateMoney?: ListedLateMoney[];
  createdAt: Timestamp;
  lastUpdatedAt: Timestamp;
  settledAt?: Timestamp;
}

export interface PaymentMerchant {
  id: string;
  name: string;
  iconUrl: string | null;
}

/** The payer, once known. */
export interface Buyer {
  /** The paying account, CAIP-10. */
  accountCaip10: string;
  /** The wallet. */
  accountProviderName: string;
  /** The URL of its icon, if it has one. */
  accountProviderIcon?: string;
}

/** The transaction that paid it, once known. */
export interface PaymentTransaction {
  /** The reference of the chain, without its namespace. */
  networkId: string;
  hash?: string;
  nonce?: number;
}

/** The fees of a succeeded payment, in the token it was paid with. */
export interface PaymentFees {
  total: Amount;
  fixed?: Amount;
  /** A decimal percent. */
  percentage?: string;
}

/** The settlement of a succeeded payment: its state and transaction. */
export interface ListedSettlement {
  settled: boolean;
  /** The amount that reached the merchant, after fees. */
  amount?: Amount;
  txHash?: string;
}

export interface ListedLateMoney {
  id: string;
  reason: LateMoneyReason;
  status: LateMoneyStatus;
  amount: Amount;
}

/** Over all matching payments, not only this page. All members are there unless the parameter `stats` leaves them out. */
export interface PaymentStats {
  /** The prices of the succeeded ones, before fees, less the parts that were refunded: one sum per currency, by its code. */
  totalRevenue?: Revenue[];
  /** The number of matches on all pages. */
  totalTransactions?: number;
  /** The number of different paying accounts. */
  totalCustomers?: number;
}

export interface Revenue {
  /** Major units, exact: read it with a decimal type if the last digit matters. */
  amount: number;
  /** Currency code; the symbol, if priced in a token. */
  currency: string;
}

/** The refund was accepted. */
export interface AcceptedRefund {
  paymentId: string;
  merchantId?: string;
  refundId?: string;
  status?: RefundStatus;
  problem?: RefundProblem | null;
  /** The refunded amount, in the paid asset. */
  amount?: Amount;
  /** The part of the price that is given back. */
  priceAmount?: Amount;
  /** The account that gets it, CAIP-10. */
  destination?: string;
  /** Your words, if you gave some. */
  reason?: string | null;
  /** The transaction, once it is final. */
  txId?: string | null;
  requestedAt?: Timestamp;
  lastUpdatedAt?: Timestamp;
  waitingFor?: RefundWait | null;
  /** Only while it waits for `merchant_signature`: the page where the account that received the payment signs. It asks for the whole refund, the fee included. Whoever has the link can ask for the request to sign, so give it to the holder of that account alone. */
  signUrl?: string;
  refundable?: Refundable | null;
}

/** The refund. */
export interface Refund {
  paymentId: string;
  merchantId: string;
  refundId: string;
  status: RefundStatus;
  problem: RefundProblem | null;
  /** The refunded amount, in the paid asset. */
  amount: Amount;
  /** The part of the price that is given back. */
  priceAmount: Amount;
  /** The account that gets it, CAIP-10. */
  destination: string;
  /** Your words, if you gave some. */
  reason: string | null;
  /** The transaction, once it is final. */
  txId: string | null;
  requestedAt: Timestamp;
  lastUpdatedAt: Timestamp;
  waitingFor?: RefundWait | null;
  /** Only while it waits for `merchant_signature`: the page where the account that received the payment signs. It asks for the whole refund, the fee included. Whoever has the link can ask for the request to sign, so give it to the holder of that account alone. */
  signUrl?: string;
  refundable?: Refundable | null;
}

/** One page. */
export interface RefundPage {
  refunds: Refund[];
  /** Pass it as `cursor` for the next page; null at the end. */
  nextCursor: string | null;
}

/** One page. */
export interface LateMoneyPage {
  lateMoney: LateMoney[];
  /** Pass it as `cursor` for the next page; null at the end. */
  nextCursor: string | null;
}

export interface PaymentLink {
  /** Begins with `plk_`. */
  id: string;
  /** The page for payers. */
  url: string;
  description: string;
  /** That of its payments. */
  referenceId: string;
  /** The price. Null if the payer chooses the amount. */
  amount: Amount | null;
  /** The bounds of an amount that the payer chooses. */
  minimum: Amount | null;
  maximum: Amount | null;
  /** Pieces in all. `1` makes a link that is paid once. Null: no end. A payment takes its piece when it is `processing` and returns it if it ends unpaid. */
  stock: number | null;
  /** Pieces that are being paid or have been paid. Null without a stock. */
  taken: number | null;
  status: PaymentLinkStatus;
  /** Seconds since the epoch. */
  expiresAt: number | null;
  /** The assets that payments of this link can be paid with. The lists of the merchant and of the partner hold as well. CAIP-19 ids of assets, and CAIP-2 ids for all assets of a network. Null: no limit. */
  acceptedAssets: AcceptedAssets | null;
  pictureUrl: string | null;
  createdAt: Timestamp;
}

/** An inactive link takes no new payments. */
export type PaymentLinkStatus = 'active' | 'inactive';

/** The links. */
export interface PaymentLinkPage {
  paymentLinks: PaymentLink[];
  /** Pass it as `cursor` for the next page; null at the end. */
  nextCursor: string | null;
}

/** The receipt. */
export interface SignedReceipt {
  receipt: Receipt;
  signature: ReceiptSignature;
  /** The page of the receipt, for people. It has a secret of its own, which is the right to see the receipt: give it to the payer alone. */
  pageUrl: string;
}

export interface Receipt {
  /** The second form names the refunds of a payment. The third is of a payment that was sent to its deposit address. The fourth and the fifth are the same for contracts that show 32 sealed bytes in place of an id. */
  form: 'till-receipt/1' | 'till-receipt/2' | 'till-receipt/3' | 'till-receipt/4' | 'till-receipt/5';
  paymentId: string;
  merchantId: string;
  referenceId: string;
  /** The unit of the price. */
  priceUnit: string;
  /** The price, in minor units. */
  priceValue: string;
  /** The time at which the payment became `succeeded`, ISO 8601. */
  succeededAt: string;
  /** CAIP-2. */
  network: string;
  /** The number of the chain. */
  chainId: string;
  /** The paid asset, CAIP-19. */
  asset: string;
  /** The address of the token; the zero address for the coin of the chain. */
  token: string;
  /** The contract that carried it out; for a deposit address the contract of deposit addresses. */
  collector: string;
  /** The payer; for a deposit address the deposit address. */
  payer: string;
  /** The recipient of the amount less the fee. */
  recipient: string;
  /** The recipient of the fee. */
  feeAccount: string;
  /** The paid amount, in the smallest unit; for a deposit address the asked amount. */
  amount: string;
  /** The fee of the amount. */
  fee: string;
  /** The deadline of the signature or of the deposit address, in seconds since the epoch. */
  deadline: string;
  /** The hash that the payer signed as nonce; for a deposit address the salt of the deposit address. */
  commitment: string;
  /** The hash of the transaction. */
  transaction: string;
  blockNumber: string;
  blockHash: string;
  /** The number of the event in its block. */
  logIndex: string;
  /** The bytes that the chain shows in place of the id, in hex. Only in the fourth and the fifth form. */
  subject?: string;
  /** The place where the nonce was used up: 0 the Collector, 1 the token, 2 Permit2. Not for a deposit address. */
  nonceSpace?: string;
  /** The refunds that are final, by their numbers. Not in the first form. */
  refunds?: ReceiptRefund[];
  /** The money that `transfers` and `sweeps` prove, in the smallest unit. The operator may have accepted a little less than the asked amount. Only for a deposit address. */
  arrived?: string;
  /** The final transfers to the deposit address that came in time, the largest 100 of them. Empty if they are unknown after a rebuild. Only for a deposit address. */
  transfers?: ReceiptTransfer[];
  /** The final sweeps of the deposit address, the largest 100 of them. Each paid its amount less its fee to the recipient. Only for a deposit address. */
  sweeps?: ReceiptSweep[];
}

export interface ReceiptRefund {
  refundId: string;
  /** The contract that carried it out. */
  collector: string;
  /** The account that gave it back. */
  payer: string;
  /** The recipient. */
  recipient: string;
  /** A part of the commitment; a refund has no fee. */
  feeAccount: string;
  /** The refunded amount, in the smallest unit. */
  amount: string;
  /** The deadline of the signature, in seconds since the epoch. */
  deadline: string;
  /** The hash of all terms. */
  commitment: string;
  /** The hash of the transaction. */
  transaction: string;
  blockNumber: string;
  blockHash: string;
  /** The number of the event in its block. */
  logIndex: string;
  /** The bytes that the chain shows in place of the id, in hex. Only in the fourth and the fifth form. */
  subject?: string;
  /** The place where the nonce was used up: 0 the Collector, 1 the token, 2 Permit2. Not for a deposit address. */
  nonceSpace?: string;
}

export interface ReceiptTransfer {
  /** The account that sent it. */
  sender: string;
  /** The sent amount. */
  amount: string;
  /** The hash of the transaction. */
  transaction: string;
  blockNumber: string;
  blockHash: string;
  /** The number of the event in its block. */
  logIndex: string;
}

export interface ReceiptSweep {
  /** The swept amount. */
  amount: string;
  /** The part for the fee account. */
  fee: string;
  /** The hash of the transaction. */
  transaction: string;
  blockNumber: string;
  blockHash: string;
  /** The number of the event in its block. */
  logIndex: string;
}

export interface ReceiptSignature {
  algorithm: 'ed25519';
  /** The `kid` of a key in `/.well-known/till-receipts.json`. */
  keyId: string;
  /** Base64url. */
  value: string;
}

/** A JSON Web Key Set. */
export interface ReceiptKeys {
  keys: ReceiptKey[];
}

export interface ReceiptKey {
  kty: 'OKP';
  crv: 'Ed25519';
  alg: 'EdDSA';
  use: 'sig';
  /** The thumbprint of the key, RFC 7638. */
  kid: string;
  /** The public key, base64url. */
  x: string;
}

export interface SettlementDestinations {
  crypto: SettlementDestination[];
  fiat: FiatDestination[];
}

export interface SettlementDestination {
  /** Begins with `crypto_`. */
  id: string;
  asset: string;
  /** In force. */
  destination: string;
  /** Takes the place of `destination` at `effectiveAt`, while a change cools off. */
  pendingDestination?: string;
  effectiveAt?: Timestamp;
}

export interface FiatDestination {
  /** Begins with `fiat_`. */
  id: string;
  status: string;
  bankType: string;
}

export interface CreatedMerchant {
  /** Begins with `mrch_`. */
  id: string;
  name: string;
  email: string | null;
  status: MerchantStatus;
  createdAt: Timestamp;
}

export type MerchantStatus = 'active' | 'inactive' | 'suspended';

export interface Merchant {
  /** Begins with `mrch_`. */
  id: string;
  name: string;
  email: string | null;
  status: MerchantStatus;
  createdAt: Timestamp;
  iconUrl: string | null;
  acceptedAssets: AcceptedAssets | null;
  settlements: SettlementDestinations;
}

/** One page. */
export interface MerchantPage {
  merchants: ListedMerchant[];
  /** The number of matches on all pages. */
  totalCount: number;
  /** Pass it as `cursor` for the next page; null at the end. */
  nextCursor: string | null;
}

export interface ListedMerchant {
  /** Begins with `mrch_`. */
  id: string;
  name: string;
  email: string | null;
  status: MerchantStatus;
  createdAt: Timestamp;
  iconUrl: string | null;
  acceptedAssets: AcceptedAssets | null;
}

export interface Branding {
  /** The logo that payers see: the uploaded one, else the copy of the one at `iconUrl`. Null: the initials. */
  logoUrl: string | null;
  /** The uploaded logo. */
  uploadedLogoUrl: string | null;
  /** The copy of the logo at `iconUrl`, once it was made. */
  copiedLogoUrl: string | null;
  /** The colour of buttons, `#rrggbb`. Null: that of the gateway. */
  accentColor: string | null;
  /** True if the pages name the gateway at their end. */
  poweredBy: boolean;
}

/** It is deleted. */
export interface Deleted {
  id: string;
  deleted: true;
}

export interface WebhookEndpoint {
  /** Begins with `whe_`. */
  id: string;
  url: string;
  events: string[];
  merchantIds: string[] | null;
  description: string | null;
  status: WebhookEndpointStatus;
  apiVersion: string;
  createdAt: Timestamp;
}

/** A disabled endpoint gets no deliveries. Those that were pending continue when it is active again. */
export type WebhookEndpointStatus = 'active' | 'disabled';

export interface WebhookEndpointWithSecret {
  /** Begins with `whe_`. */
  id: string;
  url: string;
  events: string[];
  merchantIds: string[] | null;
  description: string | null;
  status: WebhookEndpointStatus;
  apiVersion: string;
  createdAt: Timestamp;
  /** Verifies signatures. It is shown only here: store it. */
  secret: string;
}

/** One page. */
export interface DeliveryPage {
  deliveries: WebhookDelivery[];
  /** Pass it as `cursor` for the next page; null at the end. */
  nextCursor: string | null;
}

export interface WebhookDelivery {
  /** The id of the event: an endpoint has one delivery of each event. */
  id: string;
  eventId: string;
  eventType: string;
  /** `failed`: it is not attempted again by itself. */
  status: DeliveryStatus;
  /** Attempts that have a result. */
  attempts: number;
  createdAt: Timestamp;
  /** Null when the delivery is over, and while it is being attempted. */
  nextAttemptAt: Timestamp | null;
  request: DeliveryRequest;
  lastAttempt: DeliveryAttempt | null;
}

export type DeliveryStatus = 'pending' | 'succeeded' | 'failed';

export interface DeliveryRequest {
  url: string;
  headers: Record<string, string>;
  /** The event. */
  body: Record<string, unknown> | null;
}

export interface DeliveryAttempt {
  at: Timestamp;
  latencyMs: number;
  /** The HTTP status of the answer. Null: there was no answer. */
  status: number | null;
  /** The first 4 KB of the answer. */
  answer: string | null;
  problem: string | null;
}

export type Mode = 'test' | 'live';

export type EventType = 'payment.created' | 'payment.processing' | 'payment.requires_action' | 'payment.succeeded' | 'payment.failed' | 'payment.expired' | 'payment.cancelled' | 'payment.settled' | 'payment.reorged' | 'payment.late_money' | 'payment.late_money_updated' | 'refund.created' | 'refund.processing' | 'refund.succeeded' | 'refund.failed' | 'payment_link.created' | 'payment_link.updated' | 'payment_link.sold_out' | 'merchant.created' | 'merchant.updated' | 'settlement_destination.pending' | 'settlement_destination.changed' | 'settlement_destination.vetoed' | 'webhook_endpoint.disabled' | 'webhook_endpoint.test';

export type EventPattern = 'payment.created' | 'payment.processing' | 'payment.requires_action' | 'payment.succeeded' | 'payment.failed' | 'payment.expired' | 'payment.cancelled' | 'payment.settled' | 'payment.reorged' | 'payment.late_money' | 'payment.late_money_updated' | 'refund.created' | 'refund.processing' | 'refund.succeeded' | 'refund.failed' | 'payment_link.created' | 'payment_link.updated' | 'payment_link.sold_out' | 'merchant.created' | 'merchant.updated' | 'settlement_destination.pending' | 'settlement_destination.changed' | 'settlement_destination.vetoed' | 'webhook_endpoint.disabled' | 'webhook_endpoint.test' | 'payment.*' | 'refund.*' | 'payment_link.*' | 'merchant.*' | 'settlement_destination.*' | 'webhook_endpoint.*';

export interface PaymentData {
  paymentId: string;
  /** The same as `paymentId`. */
  id: string;
  merchantId: string;
  referenceId: string;
  amount: Amount;
  status: PaymentStatus;
  createdAt: Timestamp;
  /** Seconds since the epoch. */
  expiresAt: number;
  /** The URL of the checkout. */
  gatewayUrl: string;
  /** The assets that it can be paid with: those that partner, merchant and payment accept, as it was created. CAIP-19 ids of assets, and CAIP-2 ids for all assets of a network. Null: no limit. */
  acceptedAssets: AcceptedAssets | null;
  /** Only with status `failed`. */
  failureCode?: 'declined_user' | null;
  info: PaidWith | null;
  settlement: PaymentSettlement | null;
  refund?: WholeRefund;
  /** Only if a refund was requested; the oldest first. */
  refunds?: PaymentRefund[];
  refundable?: Refundable | null;
  /** As given. */
  description: string | null;
  /** The given items, with the data to format their amounts. */
  lineItems: LineItem[] | null;
  /** As given. */
  metadata: Record<string, string> | null;
  lateMoney?: LateMoneyData;
}

/** Only in events of type `payment.late_money` and `payment.late_money_updated`: the money that the payment did not need. */
export interface LateMoneyData {
  /** Its own route shows it. Missing in older events. */
  id?: string;
  reason: LateMoneyReason;
  amount: Amount;
  /** Only of `payment.late_money_updated`, like the other two. */
  status?: LateMoneyStatus;
  /** The account that gets it back, CAIP-10. */
  destination?: string | null;
  /** Why the last return did not happen, such as `vetoed` or `recipient_screened`. Another one can be requested. */
  problem?: string | null;
}

export interface RefundData {
  id: string;
  paymentId: string;
  merchantId: string;
  refundId: string;
  status: RefundStatus;
  problem: RefundProblem | null;
  /** The refunded amount, in the paid asset. */
  amount: Amount;
  /** The part of the price that is given back. */
  priceAmount: Amount;
  /** The account that gets it, CAIP-10. */
  destination: string;
  /** Your words, if you gave some. */
  reason: string | null;
  /** The transaction, once it is final. */
  txId: string | null;
  requestedAt: Timestamp;
  lastUpdatedAt: Timestamp;
  waitingFor?: RefundWait | null;
  /** Only while it waits for `merchant_signature`: the page where the account that received the payment signs. It asks for the whole refund, the fee included. Whoever has the link can ask for the request to sign, so give it to the holder of that account alone. */
  signUrl?: string;
  refundable?: Refundable | null;
}

export interface MerchantData {
  id: string;
  name: string;
  email: string | null;
  status: string;
  createdAt: Timestamp;
  iconUrl: string | null;
  /** The assets that the merchant accepts. CAIP-19 ids of assets, and CAIP-2 ids for all assets of a network. Null: no limit. */
  acceptedAssets: AcceptedAssets | null;
  deleted?: true;
}

export interface DestinationData {
  id: string;
  merchantId: string;
  asset?: string;
  destination?: string;
  pendingDestination?: string;
  effectiveAt?: Timestamp;
  /** Only of a fiat destination. */
  status?: string;
  /** Only of a fiat destination. */
  bankType?: string;
  deleted?: true;
}

export interface NewPayment {
  amount: Price;
  /** Your order id. */
  referenceId: string;
  checkout?: CheckoutUrls | null | undefined;
  /** A description of the order. Shown to the payer. */
  description?: string | null | undefined;
  /** Up to 20 texts of your own, by key. Returned to you, and never shown to the payer. In a sandbox the key `sandbox` chooses the outcome of a test payment: `wait`, `fail`, `screened`, `reorg`, `late`, `double` or `permit2`. */
  metadata?: Record<string, string> | null | undefined;
  /** The items of the order. Shown to the payer. */
  lineItems?: readonly NewLineItem[] | null | undefined;
  /** The assets that this payment can be paid with. The lists of the merchant and of the partner hold as well. CAIP-19 ids of assets, and CAIP-2 ids for all assets of a network. Null: no limit. */
  acceptedAssets?: AcceptedAssets | null | undefined;
  /** Seconds since the epoch, at most 30 days ahead. Default: five minutes from now. */
  expiresAt?: number | null | undefined;
}

export interface Price {
  /** `iso4217/` and a currency code, or `caip19/` and the id of an asset this gateway knows. */
  unit: string;
  /** Minor units: `1000` is 10.00 USD and 1000 JPY. */
  value: string;
}

/** The URLs to which the checkout returns the payer at the end. HTTPS; test keys may use http on localhost. */
export interface CheckoutUrls {
  successUrl: string;
  errorUrl: string;
}

export interface NewLineItem {
  /** The text for the payer. */
  name: string;
  quantity?: number | null | undefined;
  amount?: LineItemAmount | null | undefined;
}

/** Of the whole line. It is shown, and not compared with the amount to be paid. */
export interface LineItemAmount {
  unit: string;
  value: string;
}

export interface NewRefund {
  /** The payment, which must have succeeded. */
  paymentId: string;
  amount?: RefundAmount | undefined;
  /** Your own words, for your records. The payer does not see them. */
  reason?: string | undefined;
  /** The account that gets the refund, CAIP-10, on the chain of the payment. The account that paid, if it is missing. Needs a key that may also change destinations (`destinations:write`). Like a changed destination it cools off first. */
  destination?: string | undefined;
}

/** A part of the payment; all that is left, if it is missing. It is converted at the payment’s own rate. Needs an `Idempotency-Key`. */
export interface RefundAmount {
  /** The unit of the price, or `caip19/` and the paid asset. */
  unit: string;
  /** Minor units: `300` is 3.00 USD. */
  value: string;
}

export interface NewReturn {
  /** The account that gets the money, CAIP-10, on the network of the money. */
  destination: string;
}

export interface NewPaymentLink {
  /** What the payer pays for. */
  description: string;
  amount?: LinkPrice | undefined;
  minimum?: LinkPrice | undefined;
  maximum?: LinkPrice | undefined;
  /** Pieces in all. `1` makes a link that is paid once. Null: no end. A payment takes its piece when it is `processing` and returns it if it ends unpaid. */
  stock?: number | null | undefined;
  /** The link takes no new payments from then on. Seconds since the epoch. Null: no end. */
  expiresAt?: number | null | undefined;
  /** The `referenceId` of its payments. Default: the id of the link. */
  referenceId?: string | undefined;
  /** The assets that payments of this link can be paid with. The lists of the merchant and of the partner hold as well. CAIP-19 ids of assets, and CAIP-2 ids for all assets of a network. Null: no limit. */
  acceptedAssets?: AcceptedAssets | null | undefined;
  /** A JPEG, PNG or WebP of at most 256 KB, in base64. */
  picture?: string | null | undefined;
}

export interface LinkPrice {
  /** `iso4217/` and a currency code, or `caip19/` and the id of an asset this gateway knows. */
  unit: string;
  /** Minor units: `1000` is 10.00 USD and 1000 JPY. */
  value: string;
}

export interface PaymentLinkChange {
  /** What the payer pays for. */
  description?: string | undefined;
  /** Pieces in all. `1` makes a link that is paid once. Null: no end. A payment takes its piece when it is `processing` and returns it if it ends unpaid. */
  stock?: number | null | undefined;
  /** The link takes no new payments from then on. Seconds since the epoch. Null: no end. */
  expiresAt?: number | null | undefined;
  status?: PaymentLinkStatus | undefined;
  /** The assets that payments of this link can be paid with. The lists of the merchant and of the partner hold as well. CAIP-19 ids of assets, and CAIP-2 ids for all assets of a network. Null: no limit. */
  acceptedAssets?: AcceptedAssets | null | undefined;
  /** A JPEG, PNG or WebP of at most 256 KB, in base64. */
  picture?: string | null | undefined;
}

export interface NewDestinations {
  settlements: readonly NewDestination[];
}

export interface NewDestination {
  /** CAIP-19 asset id on an `eip155` or `solana` chain. */
  asset: string;
  /** CAIP-10 account on the asset's chain. EVM addresses are stored with their checksum. */
  destination: string;
}

export interface NewMerchant {
  /** The name payers see. */
  merchantName: string;
  /** Contact e-mail address. */
  merchantEmail: string;
  /** Logo, HTTPS only; null unsets it. */
  iconUrl?: string | null | undefined;
  acceptedAssets?: AcceptedAssets | null | undefined;
}

export interface MerchantChange {
  /** The name payers see. */
  merchantName?: string | undefined;
  /** Contact e-mail address. */
  merchantEmail?: string | undefined;
  /** Logo, HTTPS only; null unsets it. */
  iconUrl?: string | null | undefined;
  acceptedAssets?: AcceptedAssets | null | undefined;
  ifUnchanged?: SeenMerchant | undefined;
}

/** Values of the merchant that you have seen. If one of them has changed meanwhile, nothing is changed: 409 `invalid_state`, with the present values in `details.current`. */
export interface SeenMerchant {
  name?: string | undefined;
  email?: string | null | undefined;
  iconUrl?: string | null | undefined;
  status?: MerchantStatus | undefined;
  acceptedAssets?: AcceptedAssets | null | undefined;
}

export interface BrandingChange {
  /** A JPEG, PNG or WebP of at most 2 MB, in base64. */
  logo?: string | null | undefined;
  /** The colour of buttons. It must have a contrast of 3:1 against the backgrounds of the light and the dark theme. The text on it is black or white, whichever has more contrast. Null: that of the gateway. */
  accentColor?: string | null | undefined;
  /** False hides the name of the gateway at the end of the pages. */
  poweredBy?: boolean | undefined;
  ifUnchanged?: SeenBranding | undefined;
}

/** Values of the branding that you have seen. If one of them has changed meanwhile, nothing is changed: 409 `invalid_state`, with the present values in `details.current`. */
export interface SeenBranding {
  uploadedLogoUrl?: string | null | undefined;
  accentColor?: string | null | undefined;
  poweredBy?: boolean | undefined;
}

export interface NewWebhookEndpoint {
  /** The URL that gets the events: HTTPS, with a public host, without credentials and fragment. With test keys of a sandbox also HTTP, and this machine. */
  url: string;
  /** The types to deliver. `payment.*` stands for all types that begin so, `*` for all. */
  events: readonly EventSubscription[];
  /** Only events of these merchants. Null: all merchants that the key may act for. */
  merchantIds?: readonly string[] | null | undefined;
  /** A note of your own. */
  description?: string | null | undefined;
  /** The version of the API that bodies are in. */
  apiVersion?: '2026-02-18' | undefined;
}

export type EventSubscription = '*' | 'payment.created' | 'payment.processing' | 'payment.requires_action' | 'payment.succeeded' | 'payment.failed' | 'payment.expired' | 'payment.cancelled' | 'payment.settled' | 'payment.reorged' | 'payment.late_money' | 'payment.late_money_updated' | 'refund.created' | 'refund.processing' | 'refund.succeeded' | 'refund.failed' | 'payment_link.created' | 'payment_link.updated' | 'payment_link.sold_out' | 'merchant.created' | 'merchant.updated' | 'settlement_destination.pending' | 'settlement_destination.changed' | 'settlement_destination.vetoed' | 'webhook_endpoint.disabled' | 'webhook_endpoint.test' | 'payment.*' | 'refund.*' | 'payment_link.*' | 'merchant.*' | 'settlement_destination.*' | 'webhook_endpoint.*';

export interface WebhookEndpointChange {
  /** The URL that gets the events: HTTPS, with a public host, without credentials and fragment. With test keys of a sandbox also HTTP, and this machine. */
  url?: string | undefined;
  /** The types to deliver. `payment.*` stands for all types that begin so, `*` for all. */
  events?: readonly EventSubscription[] | undefined;
  /** Only events of these merchants. Null: all merchants that the key may act for. */
  merchantIds?: readonly string[] | null | undefined;
  /** A note of your own. */
  description?: string | null | undefined;
  /** The version of the API that bodies are in. */
  apiVersion?: '2026-02-18' | undefined;
  status?: WebhookEndpointStatus | undefined;
}

export interface SecretRotation {
  /** Seconds for which older secrets still sign. 0 ends them now. */
  overlapSeconds?: number | undefined;
}

export interface PaymentQuery {
  /** Made at this time or later. RFC 3339 with its offset; the seconds may be left out. */
  startTs?: string | undefined;
  /** Made before this time. RFC 3339 with its offset; the seconds may be left out. */
  endTs?: string | undefined;
  /** Symbols of the tokens paid with, in any case. May be repeated, or hold several with commas between them. */
  token_symbol?: string | readonly string[] | undefined;
  /** CAIP-2 chain ids. May be repeated, or hold several with commas between them. */
  network?: string | readonly string[] | undefined;
  /** Only with these statuses. May be repeated, or hold several with commas between them. */
  status?: PaymentStatus | readonly PaymentStatus[] | undefined;
  /** A part of the reference id, in any case. */
  referenceId?: string | undefined;
  /** Finds payments by the id of a payment or refund, the link of a checkout, the hash of a transaction that paid, settled or refunded them, the account of the payer (CAIP-10, or its address alone), or else by a part of the reference id. */
  search?: string | undefined;
  /** Default: date. Amounts are compared in major units, whatever the currency. */
  sortBy?: 'date' | 'amount' | undefined;
  /** Default: desc. */
  sortDir?: 'asc' | 'desc' | undefined;
  /** Opaque: the `nextCursor` of the page before, with the same filters. */
  cursor?: string | undefined;
  /** Size of the page. */
  limit?: number | undefined;
  /** The members of `stats`. Default: `all`. `totals` leaves out `totalCustomers`, which takes the longest if there are many customers. `none` leaves out all of them, for pages after the first. */
  stats?: 'all' | 'totals' | 'none' | undefined;
  /** Only of these merchants. May be repeated. */
  merchantId?: string | readonly string[] | undefined;
}

export interface RefundQuery {
  /** Only refunds of this payment. */
  paymentId?: string | undefined;
  /** Only in these states. May be repeated, or hold several with commas between them. */
  status?: RefundStatus | readonly RefundStatus[] | undefined;
  /** Opaque: the `nextCursor` of the page before, with the same filters. */
  cursor?: string | undefined;
  /** Size of the page. */
  limit?: number | undefined;
}

export interface LateMoneyQuery {
  /** Only of this merchant. */
  merchantId?: string | undefined;
  /** Only of this payment. */
  paymentId?: string | undefined;
  /** Only in these states. May be repeated, or hold several with commas between them. */
  status?: LateMoneyStatus | readonly LateMoneyStatus[] | undefined;
  /** Opaque: the `nextCursor` of the page before, with the same filters. */
  cursor?: string | undefined;
  /** Size of the page. */
  limit?: number | undefined;
}

export interface PaymentLinkQuery {
  /** Opaque: the `nextCursor` of the page before, with the same filters. */
  cursor?: string | undefined;
  /** Size of the page. */
  limit?: number | undefined;
}

export interface MerchantQuery {
  status?: MerchantStatus | undefined;
  /** Part of the name or the id, in any case. */
  search?: string | undefined;
  /** Opaque: the `nextCursor` of the page before, with the same filters. */
  cursor?: string | undefined;
  /** Size of the page. */
  limit?: number | undefined;
}

export interface DeliveryQuery {
  status?: DeliveryStatus | undefined;
  /** Opaque: the `nextCursor` of the page before, with the same filters. */
  cursor?: string | undefined;
  /** Size of the page. */
  limit?: number | undefined;
}

export interface EventQuery {
  /** The `nextCursor` of the answer before. Without it the feed begins with the first event. `latest` begins with the next event. */
  after?: string | undefined;
  /** For the past, the newest event first: `latest`, then the `nextCursor` of the answer before. Not together with `after`. The past is over when `hasMore` is false; an answer without events is not the end. */
  before?: string | undefined;
  /** Only events of these types. `payment.*` stands for all types that begin so. May be repeated, or hold several with commas between them. */
  types?: EventPattern | readonly EventPattern[] | undefined;
  /** Only of these merchants. May be repeated. */
  merchantId?: string | readonly string[] | undefined;
  /** Size of the page. */
  limit?: number | undefined;
  /** Hold the request until there is an event, at most this long (25 s is the most). */
  maxPollMs?: number | undefined;
}

export type ChangedMerchant = ListedMerchant;

export type WebhookEndpointData = WebhookEndpoint;

export interface EventOf<Type extends EventType, Data> {
  id: string;
  createdAt: Timestamp;
  /** The version of the API that `data` is in. */
  apiVersion: string;
  mode: Mode;
  merchantId: string | null;
  /** Counts the events of the object, without gaps. */
  sequence: number;
  type: Type;
  data: Data;
}

/** An event. Its `type` tells what `data` is. */
export type TillEvent =
  | EventOf<'payment.created' | 'payment.processing' | 'payment.requires_action' | 'payment.succeeded' | 'payment.failed' | 'payment.expired' | 'payment.cancelled' | 'payment.settled' | 'payment.reorged' | 'payment.late_money' | 'payment.late_money_updated', PaymentData>
  | EventOf<'refund.created' | 'refund.processing' | 'refund.succeeded' | 'refund.failed', RefundData>
  | EventOf<'payment_link.created' | 'payment_link.updated' | 'payment_link.sold_out', PaymentLink>
  | EventOf<'merchant.created' | 'merchant.updated', MerchantData>
  | EventOf<'settlement_destination.pending' | 'settlement_destination.changed' | 'settlement_destination.vetoed', DestinationData>
  | EventOf<'webhook_endpoint.disabled' | 'webhook_endpoint.test', WebhookEndpointData>;

export interface EventPage {
  events: TillEvent[];
  /** Pass it as `after` in the next request. */
  nextCursor: string;
}
