import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/**
 * A result rather than an exception, so that one answer can name the problems of every field at once. A problem is the
 * rest of a sentence that starts with the field's name. It echoes a namespace of at most eight characters and nothing
 * else of the input, so no caller can put text of their own into an answer or a log.
 */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

type Namespace = 'eip155' | 'solana';

/** A CAIP-2 chain. */
export interface Chain {
  readonly chainId: string;
  readonly namespace: Namespace;
  readonly reference: string;
}

/** A CAIP-19 fungible asset: a token by its address, or a chain's native coin by its SLIP-44 number. */
export interface Asset {
  readonly chainId: string;
  readonly namespace: Namespace;
  readonly kind: 'erc20' | 'token' | 'slip44';
  readonly reference: string;
  /** The canonical CAIP-19 id, as it is stored and shown. */
  readonly id: string;
  /**
   * Two spellings of one asset have one key. It is the id in lower case on EVM chains, so that it also matches
   * addresses that other systems wrote without a checksum, and the exact id on Solana, where case distinguishes mints.
   */
  readonly key: string;
}

/** A CAIP-10 account. */
export interface Account {
  readonly chainId: string;
  readonly namespace: Namespace;
  readonly address: string;
  /** The canonical CAIP-10 id, as it is stored and shown. */
  readonly id: string;
}

/** Reads a bare CAIP-19 id. The caller removes the `caip19/` of an amount's unit. */
export function parseAsset(text: string): Parsed<Asset> {
  const parts = split(text, ASSET_FORM, `a CAIP-19 asset id such as ${ASSET_EXAMPLE}`);
  if (!parts.ok) return parts;
  const [chainNamespace = '', chainReference = '', kind = '', rawReference = ''] = parts.value;

  const chain = readChain(chainNamespace, chainReference);
  if (!chain.ok) return chain;
  const { chainId, namespace } = chain.value;
  const { tokenKind, readAddress } = FAMILIES[namespace];
  if (kind !== tokenKind && kind !== 'slip44') {
    return refuse(`names the asset namespace "${kind}"; on ${namespace}, accepted are ${tokenKind} and slip44`);
  }

  const reference = kind === 'slip44' ? readCoinType(rawReference) : readAddress(rawReference);
  if (!reference.ok) return reference;
  const id = `${chainId}/${kind}:${reference.value}`;
  const key = namespace === 'eip155' ? id.toLowerCase() : id;
  return accept({ chainId, namespace, kind, reference: reference.value, id, key });
}

export function parseAccount(text: string): Parsed<Account> {
  const parts = split(text, ACCOUNT_FORM, `a CAIP-10 account such as ${ACCOUNT_EXAMPLE}`);
  if (!parts.ok) return parts;
  const [chainNamespace = '', chainReference = '', rawAddress = ''] = parts.value;

  const chain = readChain(chainNamespace, chainReference);
  if (!chain.ok) return chain;
  const { chainId, namespace } = chain.value;
  const address = FAMILIES[namespace].readAddress(rawAddress);
  if (!address.ok) return address;
  return accept({ chainId, namespace, address: address.value, id: `${chainId}:${address.value}` });
}

/** The CAIP-2 chain of an account, without a check of the address. Undefined if the text has none. */
export function chainIn(account: string): string | undefined {
  return /^([-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}):/.exec(account)?.[1];
}

/** True if two addresses are the same account. Spellings of an EVM address differ in case alone. */
export function isSameAddress(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** True for the all-zero address, from which no payment is possible. */
export function isZeroAccount(account: string): boolean {
  return /:(0x0{40}|1{32})$/.test(account);
}

export function parseChainId(text: string): Parsed<Chain> {
  const parts = split(text, CHAIN_FORM, 'a CAIP-2 chain id such as eip155:8453');
  if (!parts.ok) return parts;
  const [namespace = '', reference = ''] = parts.value;
  return readChain(namespace, reference);
}

export const sameChain = (asset: Pick<Asset, 'chainId'>, account: Pick<Account, 'chainId'>): boolean =>
  asset.chainId === account.chainId;

/** A payment meets the same addresses again and again, and each hash takes 6 µs. */
const MAX_SPELLINGS = 10_000;
const spellings = new Map<string, string>();

/** EIP-55: the case of each letter carries one bit of the hash of the lower-case address. */
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

const FAMILIES = {
  eip155: { tokenKind: 'erc20', readReference: readEvmReference, readAddress: readEvmAddress },
  solana: { tokenKind: 'token', readReference: readSolanaReference, readAddress: readSolanaAddress },
} as const satisfies Record<Namespace, Family>;

interface Family {
  readonly tokenKind: Asset['kind'];
  readonly readReference: (text: string) => Parsed<string>;
  readonly readAddress: (text: string) => Parsed<string>;
}

/** The longest id of the CAIPs has 179 characters. The bound is checked first, so that no pattern runs on a long text. */
const MAX_LENGTH = 256;

const ASSET_EXAMPLE = 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const ACCOUNT_EXAMPLE = 'eip155:8453:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

/**
 * The grammars of the CAIPs, which allow more than this gateway supports. A valid id of an unsupported chain or kind is then
 * reported as unsupported, not as malformed.
 */
const CHAIN_FORM = /^([-a-z0-9]{3,8}):([-_a-zA-Z0-9]{1,32})$/;
const ACCOUNT_FORM = /^([-a-z0-9]{3,8}):([-_a-zA-Z0-9]{1,32}):([-.%a-zA-Z0-9]{1,128})$/;
const ASSET_FORM = /^([-a-z0-9]{3,8}):([-_a-zA-Z0-9]{1,32})\/([-a-z0-9]{3,8}):([-.%a-zA-Z0-9]{1,128})$/;

function split(text: string, form: RegExp, expected: string): Parsed<string[]> {
  if (text.length > MAX_LENGTH) return refuse(`is longer than ${MAX_LENGTH} characters`);
  const match = form.exec(text);
  return match ? accept(match.slice(1)) : refuse(`is not ${expected}`);
}

function readChain(namespace: string, rawReference: string): Parsed<Chain> {
  if (!isNamespace(namespace)) {
    return refuse(`names the chain namespace "${namespace}"; accepted are ${Object.keys(FAMILIES).join(' and ')}`);
  }
  const reference = FAMILIES[namespace].readReference(rawReference);
  if (!reference.ok) return reference;
  return accept({ chainId: `${namespace}:${reference.value}`, namespace, reference: reference.value });
}

const isNamespace = (text: string): text is Namespace => Object.hasOwn(FAMILIES, text);

/** Wallets and libraries hold chain ids as JavaScript numbers, so an id that a number cannot hold exactly is refused. */
function readEvmReference(text: string): Parsed<string> {
  return isDecimal(text, 1, Number.MAX_SAFE_INTEGER)
    ? accept(text)
    : refuse('has a chain id that is not a decimal number from 1 to 2^53 - 1 without leading zeros');
}

function readSolanaReference(text: string): Parsed<string> {
  return /^[1-9A-HJ-NP-Za-km-z]{32}$/.test(text)
    ? accept(text)
    : refuse("has a chain reference that is not the first 32 base58 characters of a Solana cluster's genesis hash");
}

function readEvmAddress(text: string): Parsed<string> {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return refuse('has an address that is not 0x and 40 hexadecimal digits');
  if (/^0x0+$/.test(text)) return refuse('has the all-zero address, which is neither a token nor an account');

  const checksummed = checksumAddress(text.toLowerCase());
  const digits = text.slice(2);
  const isMixedCase = /[a-f]/.test(digits) && /[A-F]/.test(digits);
  // The error does not show the right checksum: pasted back, it would turn a mistyped address into a valid one.
  if (isMixedCase && text !== checksummed) return refuse('has an address with a wrong EIP-55 checksum');
  return accept(checksummed);
}

function readSolanaAddress(text: string): Parsed<string> {
  if (base58ByteLength(text) !== 32) return refuse('has an address that is not 32 bytes in base58');
  // Thirty-two zero bytes are the System Program. Money sent there is lost, as with the zero address of EVM chains.
  if (/^1+$/.test(text)) return refuse('has the all-zero address, which is neither a token nor an account');
  return accept(text);
}

function readCoinType(text: string): Parsed<string> {
  return isDecimal(text, 0, 2 ** 31 - 1)
    ? accept(text)
    : refuse('has a slip44 number that is not a decimal number from 0 to 2147483647 without leading zeros');
}

/** At most 16 digits are read, so that a number is compared before it can be rounded. */
function isDecimal(text: string, min: number, max: number): boolean {
  return /^(0|[1-9][0-9]{0,15})$/.test(text) && Number(text) >= min && Number(text) <= max;
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/**
 * The decoded length of the text in bytes; undefined when it is not base58. A leading `1` is one zero byte, and the
 * rest is one big number. Only the length matters, because base58 has a single spelling for given bytes. Decoding takes
 * quadratic time; the grammars above bound the text to 128 characters.
 */
function base58ByteLength(text: string): number | undefined {
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

const accept = <T>(value: T): Parsed<T> => ({ ok: true, value });
const refuse = (problem: string): Parsed<never> => ({ ok: false, problem });
