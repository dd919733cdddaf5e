import { accept, type Parsed, refuse } from '../parsed.ts';
import type { Addresses } from './addresses.ts';

/** The spelling rules of Solana. Keys and signatures are in base58, where letter case makes a difference. */
export const SOLANA: Addresses = {
  tokenKind: 'token',
  ignoresCase: false,
  spansNetworks: false,
  slotWord: 'number',
  workWord: 'compute units',
  spenderWord: 'the delegate',
  signatureRule: 'a signature of 64 bytes',
  noSignature: '',
  spellBytes: (hex) => hex,
  parseReference,
  parse,
  hasForm: (text) => base58ByteLength(text) === 32,
  isZero: (address) => /^1{32}$/.test(address),
  parseTransactionId: (text) => (SIGNATURE.test(text) ? text : undefined),
  isSignature: (text) => SIGNATURE.test(text),
};

/** The form of a signature: 64 bytes in base58. */
const SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{64,90}$/;

function parseReference(text: string): Parsed<string> {
  return /^[1-9A-HJ-NP-Za-km-z]{32}$/.test(text)
    ? accept(text)
    : refuse("has a chain reference that is not the first 32 base58 characters of a Solana cluster's genesis hash");
}

function parse(text: string): Parsed<string> {
  if (base58ByteLength(text) !== 32) return refuse('has an address that is not 32 bytes in base58');
  // Thirty-two zero bytes are the System Program. Money sent there is lost, as with the zero address of EVM chains.
  if (/^1+$/.test(text)) return refuse('has the all-zero address, which is neither a token nor an account');
  return accept(text);
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
/** The maximum length of a text that is decoded, because decoding takes quadratic time. The grammar of CAIP-10 has the same bound. */
const MAX_LENGTH = 128;

/**
 * The decoded length of the text in bytes; undefined when it is not base58. A leading `1` is one zero byte, and the
 * rest is one big number. Only the length matters, because base58 has a single spelling for given bytes.
 */
function base58ByteLength(text: string): number | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  let value = 0n;
  let leadingZeros = 0;
  for (const character of text) {
    const digit = BASE58.indexOf(character);
    if (digit < 0) return undefined;
    value = value * 58n + BigInt(digit);
    if (value === 0n) leadingZeros += 1;
  }
  return leadingZeros + (value === 0n ? 0 : Math.ceil(value.toString(16).length / 2));
}
