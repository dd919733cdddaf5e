import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { isDecimal } from '../decimal.ts';
import { accept, type Parsed, refuse } from '../parsed.ts';
import type { Addresses } from './addresses.ts';

/** The spelling rules of EVM chains. Addresses and hashes are in hex. The letter case of an address is only its checksum (EIP-55). */
export const EIP155: Addresses = {
  tokenKind: 'erc20',
  ignoresCase: true,
  spansNetworks: true,
  slotWord: 'nonce',
  workWord: 'gas',
  spenderWord: 'Permit2',
  signatureRule: 'a signature of 65 bytes, with a low s',
  coinDecimals: 18,
  noSignature: '0x',
  spellBytes: (hex) => `0x${hex}`,
  parseReference,
  parse,
  hasForm: (text) => ADDRESS.test(text),
  isZero: (address) => /^0x0{40}$/.test(address),
  parseTransactionId: (text) => (HASH.test(text) ? text.toLowerCase() : undefined),
  // Accounts with code have signatures of any length. Only the limit of the request body bounds this length.
  isSignature: (text) => /^0x(?:[0-9a-fA-F]{2}){33,}$/.test(text),
};

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const HASH = /^0x[0-9a-fA-F]{64}$/;

/** The number of cached spellings. A payment needs the same addresses again and again, and each hash takes 6 µs. */
const MAX_SPELLINGS = 10_000;
const spellings = new Map<string, string>();

/** The spelling of an address by EIP-55: the case of each letter carries one bit of the hash of the lower-case address. */
export function checksumAddress(lowerHex: string): string {
  const known = spellings.get(lowerHex);
  if (known !== undefined) return known;
  const digits = lowerHex.slice(2);
  const hash = bytesToHex(keccak_256(utf8ToBytes(digits)));
  const spelling = `0x${digits.replace(/[a-f]/g, (letter, index) => (hash.charAt(index) >= '8' ? letter.toUpperCase() : letter))}`;
  if (spellings.size >= MAX_SPELLINGS) spellings.delete(spellings.keys().next().value ?? '');
  spellings.set(lowerHex, spelling);
  return spelling;
}

/** Reads a chain id. Wallets and libraries hold it as a JavaScript number, so an id that a number cannot hold exactly is refused. */
function parseReference(text: string): Parsed<string> {
  return isDecimal(text, 1, Number.MAX_SAFE_INTEGER)
    ? accept(text)
    : refuse('has a chain id that is not a decimal number from 1 to 2^53 - 1 without leading zeros');
}

function parse(text: string): Parsed<string> {
  if (!ADDRESS.test(text)) return refuse('has an address that is not 0x and 40 hexadecimal digits');
  if (/^0x0+$/.test(text)) return refuse('has the all-zero address, which is neither a token nor an account');

  const checksummed = checksumAddress(text.toLowerCase());
  const digits = text.slice(2);
  const isMixedCase = /[a-f]/.test(digits) && /[A-F]/.test(digits);
  // The error does not show the right checksum, because a caller who copies it would turn a mistyped address into a valid one.
  if (isMixedCase && text !== checksummed) return refuse('has an address with a wrong EIP-55 checksum');
  return accept(checksummed);
}
