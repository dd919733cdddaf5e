import { caipKey, FAMILIES, isNamespace, NAMESPACES, type Namespace } from './addresses/families.ts';
import { isDecimal } from './decimal.ts';
import { accept, type Parsed, refuse } from './parsed.ts';

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
   * The key by which assets are compared: two spellings of one asset have the same key. On EVM chains it is the id in lower case,
   * so that it also matches addresses that other systems wrote without a checksum. On Solana it is the exact id, because case
   * distinguishes mints.
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

/** Reads a CAIP-19 id. In the unit of an amount the id has the prefix `caip19/`, which the caller must remove first. */
export function parseAsset(text: string): Parsed<Asset> {
  const parts = split(text, ASSET_FORM, `a CAIP-19 asset id such as ${ASSET_EXAMPLE}`);
  if (!parts.ok) return parts;
  const [chainNamespace = '', chainReference = '', kind = '', rawReference = ''] = parts.value;

  const chain = readChain(chainNamespace, chainReference);
  if (!chain.ok) return chain;
  const { chainId, namespace } = chain.value;
  const { tokenKind, parse } = FAMILIES[namespace];
  if (kind !== tokenKind && kind !== 'slip44') {
    return refuse(`names the asset namespace "${kind}"; on ${namespace}, accepted are ${tokenKind} and slip44`);
  }

  const reference = kind === 'slip44' ? readCoinType(rawReference) : parse(rawReference);
  if (!reference.ok) return reference;
  const id = `${chainId}/${kind}:${reference.value}`;
  return accept({ chainId, namespace, kind, reference: reference.value, id, key: caipKey(id) });
}

export function parseAccount(text: string): Parsed<Account> {
  const parts = split(text, ACCOUNT_FORM, `a CAIP-10 account such as ${ACCOUNT_EXAMPLE}`);
  if (!parts.ok) return parts;
  const [chainNamespace = '', chainReference = '', rawAddress = ''] = parts.value;

  const chain = readChain(chainNamespace, chainReference);
  if (!chain.ok) return chain;
  const { chainId, namespace } = chain.value;
  const address = FAMILIES[namespace].parse(rawAddress);
  if (!address.ok) return address;
  return accept({ chainId, namespace, address: address.value, id: `${chainId}:${address.value}` });
}

/** The CAIP-2 chain in the id of an account, without a check of the address. Undefined if the text contains no chain. */
export function chainIn(account: string): string | undefined {
  return /^([-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}):/.exec(account)?.[1];
}

export function parseChainId(text: string): Parsed<Chain> {
  const parts = split(text, CHAIN_FORM, 'a CAIP-2 chain id such as eip155:8453');
  if (!parts.ok) return parts;
  const [namespace = '', reference = ''] = parts.value;
  return readChain(namespace, reference);
}

export const sameChain = (asset: Pick<Asset, 'chainId'>, account: Pick<Account, 'chainId'>): boolean =>
  asset.chainId === account.chainId;

/**
 * The maximum length of a text that is parsed. The longest CAIP id has 179 characters. The length is checked first, so that no
 * pattern runs on a long text.
 */
const MAX_LENGTH = 256;

const ASSET_EXAMPLE = 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const ACCOUNT_EXAMPLE = 'eip155:8453:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

/**
 * The grammars of the CAIPs. They allow more than this gateway supports, so that a valid id of an unsupported chain or kind is
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
    return refuse(`names the chain namespace "${namespace}"; accepted are ${NAMESPACES.join(' and ')}`);
  }
  const reference = FAMILIES[namespace].parseReference(rawReference);
  if (!reference.ok) return reference;
  return accept({ chainId: `${namespace}:${reference.value}`, namespace, reference: reference.value });
}

function readCoinType(text: string): Parsed<string> {
  return isDecimal(text, 0, 2 ** 31 - 1)
    ? accept(text)
    : refuse('has a slip44 number that is not a decimal number from 0 to 2147483647 without leading zeros');
}
