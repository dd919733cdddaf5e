import { isSameAddress } from './addresses/families.ts';

/** The wire format of x402, version 2, with the scheme `exact` on EVM networks. */

export const X402_VERSION = 2;

/** The longest time for the client to sign and for the gateway to carry out the payment. */
const MAX_TIMEOUT_S = 300;
/** The least time that an authorization must have left. With less, it might be mined too late. */
const LEAST_LEFT_S = 20;

/** A way to pay that a client may choose. The payee is a deposit address, which fixes the terms of the payment. */
export interface Requirement {
  readonly scheme: 'exact';
  /** A CAIP-2 id. */
  readonly network: string;
  /** The amount in the smallest unit of the token. */
  readonly amount: string;
  /** The address of the token. */
  readonly asset: string;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  /** The EIP-712 domain of the token, and the id of the payment. Clients return these values. */
  readonly extra: { readonly name: string; readonly version: string; readonly paymentId: string };
}

/** A payment as a client sends it in `PAYMENT-SIGNATURE`. Addresses are in lower case. */
export interface X402Payment {
  /** A CAIP-2 id. */
  readonly network: string;
  readonly asset: string;
  readonly from: string;
  readonly to: string;
  readonly value: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: string;
  readonly signature: string;
  /** The id that the client gave in the extension `payment-identifier`. */
  readonly identifier: string | undefined;
}

export type ReadPayment =
  | { readonly ok: true; readonly value: X402Payment }
  | { readonly ok: false; readonly problem: string };

/** The supported extensions. With `payment-identifier`, a client may name its request, and gets the same answer for the same name. */
export const EXTENSIONS = {
  'payment-identifier': {
    info: { required: false },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        required: { type: 'boolean' },
        id: { type: 'string', minLength: 16, maxLength: 128, pattern: '^[a-zA-Z0-9_-]+$' },
      },
      required: ['required'],
    },
  },
} as const;

/** The value of a header: JSON in base64. */
export function headerText(value: unknown): string {
  return Buffer.from(JSON.stringify(value), 'utf8').toString('base64');
}

/** Reads the header of a payment. A problem is the rest of a sentence that starts with the header's name. */
export function readPaymentHeader(header: string): ReadPayment {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(header)) return wrong('is not base64');
  const payment = parseObject(Buffer.from(header, 'base64').toString('utf8'));
  if (payment === undefined) return wrong('is not a JSON object in base64');
  if (payment.x402Version !== X402_VERSION) return wrong('must be of x402Version 2');
  const accepted = objectOf(payment.accepted);
  const payload = objectOf(payment.payload);
  const authorization = objectOf(payload?.authorization);
  if (accepted === undefined || payload === undefined) return wrong('must have accepted and payload');
  if (accepted.scheme !== 'exact') return wrong('must accept the scheme exact');
  if (authorization === undefined) return wrong('must have payload.authorization, of EIP-3009');
  const fields = {
    network: textOf(accepted.network, /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/),
    asset: textOf(accepted.asset, ADDRESS)?.toLowerCase(),
    from: textOf(authorization.from, ADDRESS)?.toLowerCase(),
    to: textOf(authorization.to, ADDRESS)?.toLowerCase(),
    value: numberOf(authorization.value),
    validAfter: numberOf(authorization.validAfter),
    validBefore: numberOf(authorization.validBefore),
    nonce: textOf(authorization.nonce, /^0x[0-9a-fA-F]{64}$/)?.toLowerCase(),
    signature: textOf(payload.signature, /^0x([0-9a-fA-F]{2}){1,8192}$/)?.toLowerCase(),
  };
  const missing = Object.entries(fields).find(([, value]) => value === undefined)?.[0];
  if (missing !== undefined) return wrong(`has no valid ${missing}`);
  const identifier = identifierIn(payment.extensions);
  if (identifier === null) return wrong('has a payment-identifier that is not 16 to 128 letters, digits, _ and -');
  return { ok: true, value: { ...(fields as Omit<X402Payment, 'identifier'>), identifier } };
}

/**
 * The lifetime of a client's authorization: at most half of the time that the payment has left, so that it ends before the
 * payment does.
 */
export function timeoutS(expiresAtMs: number, nowMs: number): number {
  return Math.min(MAX_TIMEOUT_S, Math.floor((expiresAtMs - nowMs) / 2_000));
}

export interface Asked {
  readonly payTo: string;
  readonly amount: bigint;
  readonly expiresAtMs: number;
}

/**
 * The x402 error code for an authorization that does not match what was asked. Undefined if it matches. An authorization that expires
 * after its payment is refused, too, because money that arrives after the payment's end does not count.
 */
export function misfitOf(payment: X402Payment, asked: Asked, nowMs: number): string | undefined {
  const nowS = BigInt(Math.floor(nowMs / 1000));
  if (!isSameAddress(payment.network, payment.to, asked.payTo)) return 'invalid_exact_evm_recipient_mismatch';
  if (payment.value !== asked.amount) return 'invalid_exact_evm_payload_authorization_value_mismatch';
  if (payment.validAfter >= nowS) return 'invalid_exact_evm_payload_authorization_valid_after';
  return payment.validBefore * 1000n > BigInt(asked.expiresAtMs) ? WRONG_END : undefined;
}

export const WRONG_END = 'invalid_exact_evm_payload_authorization_valid_before';

/** True if an authorization has run out, or might be mined too late. It may still have been carried out by somebody else. */
export function isShortLived({ validBefore }: X402Payment, nowMs: number): boolean {
  return validBefore * 1000n < BigInt(nowMs + LEAST_LEFT_S * 1000);
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
/** The form of a number. 2^256 has 78 digits. */
const NUMBER = /^(0|[1-9]\d{0,77})$/;

function wrong(problem: string): ReadPayment {
  return { ok: false, problem };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function objectOf(value: unknown): Record<string, unknown> | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, unknown>) : undefined;
}

function textOf(value: unknown, form: RegExp): string | undefined {
  return typeof value === 'string' && form.test(value) ? value : undefined;
}

function numberOf(value: unknown): bigint | undefined {
  const text = textOf(value, NUMBER);
  return text === undefined ? undefined : BigInt(text);
}

/** The identifier in the extension `payment-identifier`. Undefined if there is none, null if it is malformed. */
function identifierIn(extensions: unknown): string | undefined | null {
  const id = objectOf(objectOf(objectOf(extensions)?.['payment-identifier'])?.info)?.id;
  if (id === undefined) return undefined;
  return textOf(id, /^[a-zA-Z0-9_-]{16,128}$/) ?? null;
}
