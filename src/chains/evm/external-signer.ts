import type { Timers } from '../../runtime/world.ts';
import type { Signer } from '../chain.ts';
import { readKeySignature, recoverAddress } from './key-signature.ts';

export interface ExternalSignerInput {
  readonly timers: Timers;
  readonly url: string;
  readonly address: string;
}

/** The signer did not sign. The message contains neither text from the signer nor its URL. */
export class SignerError extends Error {
  constructor(problem: string) {
    super(`The external signer ${problem}.`);
    this.name = 'SignerError';
  }
}

const TIMEOUT_MS = 5_000;
const MAX_ANSWER_CHARS = 4_096;

/**
 * Signs with a key in another program, such as a key store or a hardware module. The request is `{ address, digest }`,
 * the answer `{ r, s, v }`, all in hexadecimal with 0x, `v` counting from 0 or from 27.
 */
export function createExternalSigner({ timers, url, address }: ExternalSignerInput): Signer {
  return {
    address,
    async sign(digest) {
      const body = JSON.stringify({ address, digest: `0x${Buffer.from(digest).toString('hex')}` });
      const signature = readKeySignature(readAnswer(await post(timers, url, body)));
      if (signature === undefined) throw new SignerError('sent no signature with a low s');
      // A transaction signed with another key would spend that account's coin, or fail, and use another nonce.
      if (recoverAddress(digest, signature) !== address.toLowerCase()) throw new SignerError('signed with another key');
      const hex = Buffer.from(signature.compact).toString('hex');
      return { r: BigInt(`0x${hex.slice(0, 64)}`), s: BigInt(`0x${hex.slice(64)}`), yParity: signature.recovery };
    },
  };
}

async function post(timers: Timers, url: string, body: string): Promise<string> {
  const late = new AbortController();
  const cancel = timers.after(TIMEOUT_MS, () => late.abort());
  try {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'error', signal: late.signal });
    const text = await answer.text();
    if (!answer.ok) throw new SignerError(`answered with status ${answer.status}`);
    if (text.length > MAX_ANSWER_CHARS) throw new SignerError('sent no signature');
    return text;
  } catch (error) {
    if (error instanceof SignerError) throw error;
    throw new SignerError(late.signal.aborted ? 'did not answer in time' : 'cannot be reached');
  } finally {
    cancel();
  }
}

/** The three parts as one text; anything else becomes a text that is no signature. */
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
