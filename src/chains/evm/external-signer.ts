import { paymentIdOf } from '../../domain/ids.ts';
import type { Item } from '../../domain/item.ts';
import type { Timers } from '../../runtime/world.ts';
import type { ExternalSignerInput } from '../family.ts';
import { type Signable, SignerRefusedError } from '../signable.ts';
import type { Signer } from '../signer.ts';
import { shownSubject } from './item-terms.ts';
import { readKeySignature, recoverAddress } from './key-signature.ts';

/** The error if the external signer failed. The message contains neither text from the signer nor its URL. */
export class SignerError extends Error {
  constructor(problem: string) {
    super(`The external signer ${problem}.`);
    this.name = 'SignerError';
  }
}

const TIMEOUT_MS = 5_000;
const MAX_ANSWER_CHARS = 4_096;
const MAX_REASON_CHARS = 200;
/**
 * The version of the protocol. Within a version only new fields are added, so a signer that reads only `address` and `digest`
 * keeps working.
 */
const PROTOCOL_VERSION = 1;

/**
 * Signs with a key in another program, such as a key store or a hardware module. The request has the address, the digest and the
 * content of the digest, as described in `docs/external-signer.md`. The answer is `{ r, s, v }` in hexadecimal with 0x, where `v`
 * is 0 or 1, or 27 or 28. A refusal has status 403 and `{ reason }`.
 */
export function createExternalSigner({ timers, url, address }: ExternalSignerInput): Signer {
  return {
    address,
    async sign(digest, content) {
      const asked = { version: PROTOCOL_VERSION, address, digest: toHex(digest), ...contentFields(content) };
      const body = JSON.stringify(asked, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
      const signature = readKeySignature(readAnswer(await post(timers, url, body)));
      if (signature === undefined) throw new SignerError('sent no signature with a low s');
      // A transaction signed with another key would use that account's nonce, and spend its coin or fail.
      if (recoverAddress(digest, signature) !== address.toLowerCase()) throw new SignerError('signed with another key');
      const hex = Buffer.from(signature.compact).toString('hex');
      return { r: BigInt(`0x${hex.slice(0, 64)}`), s: BigInt(`0x${hex.slice(64)}`), yParity: signature.recovery };
    },
  };
}

/** `chainId` is the network as CAIP-2. The signed content itself has the chain id as a number. */
function contentFields({ network, items, ...signed }: Signable): Record<string, unknown> {
  return { chainId: network, ...signed, items: items.map(itemFields) };
}

/**
 * The fields of an item in a request. Amounts are decimal strings. `subjectBytes` are the bytes that the chain shows and the
 * commitment covers.
 */
function itemFields(item: Item): Record<string, unknown> {
  const { subject, seal: _seal, network: _network, paymentId: named, deadlineS: deadline, ...terms } = item;
  const purpose = purposeOf(subject);
  // The id of a payout does not contain the id of a payment, so an item of a payout has `paymentId` if the payment is known.
  const paymentId = named ?? (purpose === 'payment' || purpose === 'refund' ? paymentIdOf(subject) : null);
  return { purpose, subject, subjectBytes: `0x${shownSubject(item)}`, paymentId, ...terms, deadline };
}

function purposeOf(subject: string): 'payment' | 'payout' | 'refund' | 'return' {
  if (subject.startsWith('pay_')) return 'payment';
  if (subject.startsWith('pout_')) return 'payout';
  return subject.startsWith('rfnd_') ? 'refund' : 'return';
}

const toHex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;

async function post(timers: Timers, url: string, body: string): Promise<string> {
  const late = new AbortController();
  const cancel = timers.after(TIMEOUT_MS, () => late.abort());
  try {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'error', signal: late.signal });
    const text = await answer.text();
    if (answer.status === REFUSED) throw new SignerRefusedError(readReason(text));
    if (!answer.ok) throw new SignerError(`answered with status ${answer.status}`);
    if (text.length > MAX_ANSWER_CHARS) throw new SignerError('sent no signature');
    return text;
  } catch (error) {
    if (error instanceof SignerError || error instanceof SignerRefusedError) throw error;
    throw new SignerError(late.signal.aborted ? 'did not answer in time' : 'cannot be reached');
  } finally {
    cancel();
  }
}

const REFUSED = 403;

/** The signer's reason as one line of printable text, because an alert shows it to the operator. */
function readReason(text: string): string {
  try {
    const { reason } = JSON.parse(text) as Record<string, unknown>;
    if (typeof reason !== 'string' || reason.trim() === '') return 'it gives no reason';
    return reason
      .replace(/[\p{C}\s]+/gu, ' ')
      .trim()
      .slice(0, MAX_REASON_CHARS);
  } catch {
    return 'it gives no reason';
  }
}

/** The three parts of the signer's answer as one signature text. An unreadable answer becomes a text that is no valid signature. */
function readAnswer(text: string): string {
  try {
    const { r, s, v } = JSON.parse(text) as Record<string, unknown>;
    return `0x${digits(r, 64)}${digits(s, 64)}${digits(v, 2)}`;
  } catch {
    return '';
  }
}

function digits(value: unknown, count: number): string {
  return typeof value === 'string' ? value.replace(/^0x/, '').padStart(count, '0') : '';
}
