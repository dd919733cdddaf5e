import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';
import { isSignatureForm, parseTransactionId } from './addresses/families.ts';
import type { Item, ItemMethod, PayMethod } from './item.ts';
import type { KeyRing } from './key-ring.ts';
import { preparedKey } from './prepared-key.ts';

/**
 * A way to pay a payment: one account, one asset, and all terms. Options are not stored: the id of an option contains all its
 * terms, encrypted and authenticated by a key that every node has. So listing options writes nothing, and any node accepts an id,
 * also after a restart. Nobody else can forge or read an id.
 */
export interface Option {
  readonly item: Item;
  /** The CAIP-10 id of the payer's account, as the wallet spelled it. */
  readonly account: string;
  /** The fee in the unit of the price. `confirm` compares it with the current fee. */
  readonly pricedFee: bigint;
  /** The parts of the fee: a decimal percent, and an amount in the smallest unit of the asset. */
  readonly feeTerms: { readonly percentage: string; readonly fixed: string };
  /** The exchange rate, its sources and its time. Null if no rate was needed. */
  readonly quote: Readonly<Record<string, unknown>> | null;
  /** The end of the option in Unix seconds. From this time on, the gateway refuses a signature. */
  readonly expiresAtS: number;
  /** The steps of the wallet, in order. The wallet returns one result for each. */
  readonly steps: readonly Step[];
}

export type Step = 'transaction' | 'signature';

export const OPTION_NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';
/** The text in an id is padded to a multiple of this, so that the length of the id shows little about the terms. */
const BLOCK = 64;
/** The maximum length of an id that is read. Ids of the gateway have about a thousand characters at most. */
const MAX_LENGTH = 4096;
/** The version of the encoding. Ids of an unknown version are refused. */
const FORM = 3;

/** Makes the id of an option. The random nonce makes the ids of two equal options differ: wallets expect new ids in every new list. */
export function sealOption([key]: KeyRing, option: Option, nonce: Uint8Array): string {
  const { item, account, pricedFee, feeTerms, quote, expiresAtS, steps } = option;
  const text = JSON.stringify([
    FORM,
    item.network,
    item.collector,
    item.asset,
    item.method,
    item.payer,
    item.recipient,
    item.feeAccount,
    item.amount.toString(),
    item.fee.toString(),
    item.deadlineS,
    account,
    pricedFee.toString(),
    feeTerms.percentage,
    feeTerms.fixed,
    quote,
    expiresAtS,
    steps.map((step) => STEP_LETTERS[step]).join(''),
  ]);
  const cipher = createCipheriv(CIPHER, keyOfPayment(key, item.subject), nonce);
  const content = [cipher.update(text.padEnd(Math.ceil(text.length / BLOCK) * BLOCK)), cipher.final()];
  return Buffer.concat([nonce, ...content, cipher.getAuthTag()]).toString('base64url');
}

/** Reads an option from its id. Undefined if the gateway did not make the id for this payment. */
export function openOption(keys: KeyRing, paymentId: string, id: string): Option | undefined {
  if (id.length > MAX_LENGTH || !/^[\w-]+$/.test(id)) return undefined;
  const bytes = Buffer.from(id, 'base64url');
  // Base64 has several spellings of the same bytes; only the canonical one is accepted.
  if (bytes.length <= OPTION_NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== id) return undefined;
  const text = keys.map((key) => decrypt(keyOfPayment(key, paymentId), bytes)).find((found) => found !== undefined);
  const fields = text === undefined ? undefined : (JSON.parse(text) as Sealed);
  if (fields?.[0] !== FORM) return undefined;
  const [, network, collector, asset, method, payer, recipient, feeAccount, amount, fee, deadlineS, ...rest] = fields;
  const [account, pricedFee, percentage, fixed, quote, expiresAtS, letters] = rest;
  const item = { network, collector, asset, method, subject: paymentId, payer, recipient, feeAccount, deadlineS };
  return {
    item: { ...item, amount: BigInt(amount), fee: BigInt(fee) },
    account,
    pricedFee: BigInt(pricedFee),
    feeTerms: { percentage, fixed },
    quote,
    expiresAtS,
    steps: [...letters].map((letter) => (letter === STEP_LETTERS.signature ? 'signature' : 'transaction')),
  };
}

type Sealed = [
  form: number,
  network: string,
  collector: string,
  asset: string,
  method: PayMethod,
  payer: string,
  recipient: string,
  feeAccount: string,
  amount: string,
  fee: string,
  deadlineS: number,
  account: string,
  pricedFee: string,
  percentage: string,
  fixed: string,
  quote: Option['quote'],
  expiresAtS: number,
  letters: string,
];

const STEP_LETTERS = { transaction: 't', signature: 's' } as const satisfies Record<Step, string>;

/** The key for the option ids of one payment. An id opens for no other payment, and each key is used with few random nonces. */
function keyOfPayment(key: Uint8Array, paymentId: string): KeyObject {
  return createSecretKey(createHmac('sha256', preparedKey(key)).update(paymentId).digest());
}

function decrypt(key: KeyObject, bytes: Buffer): string | undefined {
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, OPTION_NONCE_BYTES));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const content = decipher.update(bytes.subarray(OPTION_NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([content, decipher.final()]).toString();
  } catch {
    return undefined;
  }
}

/**
 * The validity of an option with an exchange rate, in seconds: `SIGNED_RATE_S` if the payer only signs, `MINED_RATE_S` if the
 * payer's own transaction must be mined.
 */
const SIGNED_RATE_S = 60;
const MINED_RATE_S = 300;
/**
 * The validity of an option without an exchange rate. It limits how long a signature can be carried out, and how long a lost
 * signature blocks the payment.
 */
const AT_PAR_S = 600;
/**
 * The time for which a signature stays valid on chain after its option has expired, so that a payment signed at the last moment
 * can still be sent.
 */
const SENDING_S = 120;
/** The least time that an option must have left. With less, the payer's signature or transaction would come too late. */
const LEAST_LEFT_S = 60;
/** A bound on the difference between the clocks of two nodes. */
const CLOCK_SKEW_S = 30;

export interface OptionTimes {
  readonly deadlineS: number;
  readonly expiresAtS: number;
}

export interface OptionTimesInput {
  readonly nowMs: number;
  readonly paymentExpiresAtS: number;
  readonly method: PayMethod;
  /** True if the payer has to get a transaction mined. */
  readonly needsTransaction: boolean;
  readonly isRateBound: boolean;
}

/** The times of a new option. Undefined if too little time is left to offer the option. */
export function timesOf({ nowMs, paymentExpiresAtS, ...input }: OptionTimesInput): OptionTimes | undefined {
  const nowS = Math.floor(nowMs / 1000);
  const { method, isRateBound } = input;
  const expiresAtS = Math.min(nowS + lifeS(input), paymentExpiresAtS);
  const isTooLate = (method === 'native' || isRateBound) && expiresAtS - nowS < LEAST_LEFT_S;
  return isTooLate ? undefined : { deadlineS: deadlineOf(method, expiresAtS), expiresAtS };
}

/** True if `timesOf` could have given the option its times, now or earlier, by the clock of any node. */
export function areTimesPossible(
  { item, expiresAtS, steps, quote }: Option,
  { nowMs, paymentExpiresAtS }: Pick<OptionTimesInput, 'nowMs' | 'paymentExpiresAtS'>,
): boolean {
  const longestS = lifeS({ needsTransaction: steps.includes('transaction'), isRateBound: quote !== null });
  return (
    expiresAtS <= Math.min(nowMs / 1000 + longestS + CLOCK_SKEW_S, paymentExpiresAtS) &&
    item.deadlineS === deadlineOf(item.method, expiresAtS)
  );
}

function lifeS({ needsTransaction, isRateBound }: Pick<OptionTimesInput, 'needsTransaction' | 'isRateBound'>): number {
  const rateS = needsTransaction ? MINED_RATE_S : SIGNED_RATE_S;
  return isRateBound ? rateS : AT_PAR_S;
}

/**
 * The deadline of an item on chain. The chain accepts a payer's own transaction until then, so in native coin an item ends
 * together with the option and its price.
 */
function deadlineOf(method: ItemMethod, expiresAtS: number): number {
  return method === 'native' ? expiresAtS : expiresAtS + SENDING_S;
}

/** True if it is too late to sign the option: it has expired, or too little time is left to carry it out. */
export function isPast({ item, expiresAtS }: Option, nowMs: number): boolean {
  return nowMs >= expiresAtS * 1000 || item.deadlineS * 1000 - nowMs < LEAST_LEFT_S * 1000;
}

/**
 * The results of a wallet: one text for each action. Most clients send one entry per action, some put all results into one
 * entry. Undefined if the results have neither form.
 */
export function readResults(results: readonly unknown[], actions: number): readonly string[] | undefined {
  const entries = results.map(readEntry);
  const [first = []] = entries;
  const isPacked = entries.length === 1 && first.length === actions;
  const values = isPacked ? first : entries.map((entry) => (entry?.length === 1 ? entry[0] : undefined));
  return values.every((value) => typeof value === 'string') ? values : undefined;
}

function readEntry(result: unknown): readonly unknown[] | undefined {
  if (typeof result !== 'object' || result === null) return undefined;
  const { type, data } = result as { type?: unknown; data?: unknown };
  return type === 'walletRpc' && Array.isArray(data) ? data : undefined;
}

/** True if there is one result for each step, in order and in the form of the step on this network. */
export function doResultsFit(network: string, steps: readonly Step[], values: readonly string[]): boolean {
  const fits = (step: Step, value: string) =>
    step === 'transaction' ? parseTransactionId(network, value) !== undefined : isSignatureForm(network, value);
  return values.length === steps.length && steps.every((step, index) => fits(step, values[index] ?? ''));
}

/** A hash that is equal for requests with the same option and the same results. */
export function resultsHash(optionId: string, values: readonly string[]): string {
  return hash('sha256', JSON.stringify([optionId, ...values]), 'base64url');
}

export interface Ranked {
  /** True if one token equals one unit of the price, or if the price is in this token. */
  readonly isAtPar: boolean;
  readonly needsTransaction: boolean;
  readonly etaS: number;
}

/**
 * Orders the best options first: without an exchange rate, without a transaction of the payer, on a quicker network, which also
 * costs less.
 */
export function compareRank(a: Ranked, b: Ranked): number {
  return (
    Number(b.isAtPar) - Number(a.isAtPar) || Number(a.needsTransaction) - Number(b.needsTransaction) || a.etaS - b.etaS
  );
}
