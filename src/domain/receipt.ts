import { createPrivateKey, createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import { sum } from './money.ts';

/**
 * A receipt of a completed payment. With it, the merchant can check the payment against the chain without trusting the gateway.
 * Every value is text, so that the receipt's JSON has one spelling in every programming language.
 */
export interface Receipt {
  readonly form: (typeof RECEIPT_FORMS)[number];
  readonly paymentId: string;
  readonly merchantId: string;
  readonly referenceId: string;
  readonly priceUnit: string;
  readonly priceValue: string;
  /** The time at which the gateway marked the payment as succeeded. */
  readonly succeededAt: string;
  /** The network in CAIP-2. The commitment contains the network as a number, which is `chainId`. */
  readonly network: string;
  readonly chainId: string;
  /** The asset in CAIP-19. The commitment contains the address of the token, which is `token`. */
  readonly asset: string;
  readonly token: string;
  readonly collector: string;
  /** The account that paid, or the deposit address to which the money was sent. */
  readonly payer: string;
  readonly recipient: string;
  readonly feeAccount: string;
  /** The amount paid. For a deposit address, the amount asked. The recipient got this amount minus the fee. */
  readonly amount: string;
  readonly fee: string;
  /**
   * The deadline in Unix seconds. After this time the chain refuses the payment, and money that arrives at a deposit address does
   * not count.
   */
  readonly deadline: string;
  /** The hash of the terms that the payer signed, or of the six terms of a deposit address. */
  readonly commitment: string;
  /** The transaction of the event on chain that proves the payment. For a deposit address, of the transfer that completed the payment. */
  readonly transaction: string;
  readonly blockNumber: string;
  readonly blockHash: string;
  readonly logIndex: string;
  /**
   * The seal: the bytes that the chain shows in place of the payment's id. The operator vouches that they stand for this id. Only
   * in sealed forms.
   */
  readonly subject?: string;
  /**
   * The contract that records the payer's nonce: 0 the Collector, 1 the token, 2 Permit2. Only in the sealed form of payments by a
   * Collector.
   */
  readonly nonceSpace?: string;
  /** The refunds that are final on chain, in the order of their numbers. Not in the first form. */
  readonly refunds?: RefundReceipt[];
  /** The amount that transfers and sweeps prove. This field and the next two are only in the forms for deposit addresses. */
  readonly arrived?: string;
  readonly transfers?: TransferReceipt[];
  readonly sweeps?: SweepReceipt[];
}

/** The terms of a commitment in the form of a receipt. An item has them in another form. */
export type CommittedTerms = Pick<Receipt, 'chainId' | 'collector' | 'token'> &
  Required<Pick<Receipt, 'subject' | 'nonceSpace'>>;

/** A transfer of the token to the deposit address, final and in time. */
export interface TransferReceipt extends Place {
  readonly sender: string;
  readonly amount: string;
}

/** A sweep of the deposit address: the fee went to the fee account, the rest to the recipient. */
export interface SweepReceipt extends Place {
  readonly amount: string;
  readonly fee: string;
}

interface Place {
  readonly transaction: string;
  readonly blockNumber: string;
  readonly blockHash: string;
  readonly logIndex: string;
}

/** A refund of the payment, with all terms of its commitment on the chain. A refund has no fee. */
export interface RefundReceipt {
  readonly refundId: string;
  readonly collector: string;
  /** The account that paid the refund. */
  readonly payer: string;
  readonly recipient: string;
  readonly feeAccount: string;
  readonly amount: string;
  readonly deadline: string;
  readonly commitment: string;
  /** The seal that the chain shows in place of the refund's id. This field and the next are only in sealed forms. */
  readonly subject?: string;
  readonly nonceSpace?: string;
  readonly transaction: string;
  readonly blockNumber: string;
  readonly blockHash: string;
  readonly logIndex: string;
}

export const RECEIPT_FORM = 'till-receipt/1';
/** The first form with `refunds`. */
export const REFUNDED_FORM = 'till-receipt/2';
/** The form of a payment to a deposit address, with `refunds`, `arrived`, `transfers` and `sweeps`. */
export const DEPOSIT_FORM = 'till-receipt/3';
/**
 * The two sealed forms, both with `refunds`. They are used if a contract that shows seals carried out the payment or one of its
 * refunds.
 */
export const SEALED_FORM = 'till-receipt/4';
export const SEALED_DEPOSIT_FORM = 'till-receipt/5';
export const RECEIPT_FORMS = [RECEIPT_FORM, REFUNDED_FORM, DEPOSIT_FORM, SEALED_FORM, SEALED_DEPOSIT_FORM] as const;

/** The amount that a receipt proves. Sweeps count only up to the asked amount, because they also move late money. */
export function provedArrival(asked: bigint, transfers: readonly Part[], sweeps: readonly Part[]): bigint {
  const sent = sumOf(transfers);
  const swept = sumOf(sweeps);
  const counted = swept < asked ? swept : asked;
  return sent > counted ? sent : counted;
}

type Part = { readonly amount: string };

function sumOf(parts: readonly Part[]): bigint {
  return sum(parts.map(({ amount }) => BigInt(amount)));
}

export interface ReceiptSignature {
  readonly algorithm: 'ed25519';
  readonly keyId: string;
  /** The signature in base64url. */
  readonly value: string;
}

export interface ReceiptKey {
  readonly privateKey: KeyObject;
  readonly publicJwk: ReceiptJwk;
}

/** The public key of receipts, as a JWK (RFC 8037). */
export interface ReceiptJwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly alg: 'EdDSA';
  readonly use: 'sig';
  /** The thumbprint of the key (RFC 7638), which is computed from the key alone. */
  readonly kid: string;
  /** The key itself, in base64url. */
  readonly x: string;
}

/** The bytes before the 32 bytes of a private key in PKCS#8 (RFC 8410). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

export function receiptKeyOf(seed: Uint8Array): ReceiptKey {
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { privateKey, publicJwk: receiptJwkOf(x) };
}

export function receiptJwkOf(x: string): ReceiptJwk {
  const kid = hash('sha256', JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }), 'base64url');
  return { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid, x };
}

export function signReceipt(key: ReceiptKey, receipt: Receipt): ReceiptSignature {
  return signText(key, receiptText(receipt));
}

/** Signs a text. The text must name its form, so that the signature of one kind of document is not valid for another. */
export function signText({ privateKey, publicJwk }: ReceiptKey, text: string): ReceiptSignature {
  const value = sign(null, Buffer.from(text), privateKey).toString('base64url');
  return { algorithm: 'ed25519', keyId: publicJwk.kid, value };
}

/** True if `value` is the signature of the text by the public key `x`. Both are in base64url. */
export function verifyText(x: string, text: string, value: string): boolean {
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, Buffer.from(text), key, Buffer.from(value, 'base64url'));
}

/** The signed bytes of a receipt: JSON in UTF-8, members in alphabetical order everywhere, without white space. */
export function receiptText(receipt: Receipt): string {
  return JSON.stringify(sorted(receipt));
}

function sorted(object: object): object {
  const members = Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, value]) => [name, Array.isArray(value) ? value.map(sorted) : value]));
}
