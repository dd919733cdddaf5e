import type { Parsed } from '../parsed.ts';
import type { Addresses } from './addresses.ts';
import { EIP155 } from './eip155.ts';
import { SOLANA } from './solana.ts';

/** The chain families, by CAIP-2 namespace. */
export const FAMILIES = { eip155: EIP155, solana: SOLANA } as const satisfies Record<string, Addresses>;

export type Namespace = keyof typeof FAMILIES;

export const NAMESPACES = Object.keys(FAMILIES) as readonly Namespace[];

export const isNamespace = (text: string): text is Namespace => Object.hasOwn(FAMILIES, text);

/** The CAIP-2 prefixes of chain families with case-insensitive addresses. SQL comparisons of addresses use them. */
export const FOLDED_PREFIXES: readonly string[] = NAMESPACES.filter((name) => FAMILIES[name].ignoresCase).map(
  (name) => `${name}:`,
);

/** The family of a CAIP id: of a network, an account or an asset. Undefined for a namespace that the gateway does not know. */
function familyOf(id: string): Addresses | undefined {
  const namespace = id.slice(0, id.indexOf(':'));
  return isNamespace(namespace) ? FAMILIES[namespace] : undefined;
}

/** True if addresses on the network are the same in any letter case. */
export function isCaseIgnored(network: string): boolean {
  return familyOf(network)?.ignoresCase === true;
}

/**
 * The key by which addresses or transaction ids of a network are compared: one text for all spellings. `network` can be any CAIP
 * id on the network. The key is never shown.
 */
export function addressKey(network: string, address: string): string {
  return isCaseIgnored(network) ? address.toLowerCase() : address;
}

/** The key by which CAIP-10 accounts or CAIP-19 assets are compared: one text for all spellings. */
export function caipKey(id: string): string {
  return addressKey(id, id);
}

/** The key by which units of amounts are compared: one text for all spellings of a currency code, or of `caip19/` and an asset. */
export function unitKey(unit: string): string {
  const [kind = ''] = unit.split('/', 1);
  const name = unit.slice(kind.length + 1);
  return kind === 'caip19' ? `${kind}/${caipKey(name)}` : unit.toLowerCase();
}

export function isSameAddress(network: string, one: string, other: string): boolean {
  return addressKey(network, one) === addressKey(network, other);
}

/** The word for a slot, the number of a transaction among those of its account, in messages to people. */
export function slotWord(network: string): string {
  return familyOf(network)?.slotWord ?? 'number';
}

/** The word for the units of execution that transactions use, in messages to people. */
export function workWord(network: string): string {
  return familyOf(network)?.workWord ?? 'units';
}

/** The word for the program that takes tokens of an account by its approval, in messages to people. */
export function spenderWord(network: string): string {
  return familyOf(network)?.spenderWord ?? 'the gateway';
}

/** The form of a key's signature on the network, in messages to people. */
export function signatureRule(network: string): string {
  return familyOf(network)?.signatureRule ?? 'a signature';
}

/** The decimals of the coins of the network's family. Undefined if its networks may differ. */
export function coinDecimals(network: string): number | undefined {
  return familyOf(network)?.coinDecimals;
}

/** The signature that is stored for an item of the network that needs none. */
export function noSignature(network: string): string {
  return familyOf(network)?.noSignature ?? '';
}

/** The spelling of bytes that are no address, such as a commitment, in the network's family. `hex` has no prefix. */
export function spellBytes(network: string, hex: string): string {
  return familyOf(network)?.spellBytes(hex) ?? hex;
}

/** True if two CAIP-10 ids name the same account. */
export function isSameAccount(one: string, other: string): boolean {
  return caipKey(one) === caipKey(other);
}

/** The canonical spelling of an address on a network. */
export function parseAddress(network: string, text: string): Parsed<string> {
  return familyOf(network)?.parse(text) ?? { ok: false, problem: 'is on a chain that the gateway does not know' };
}

/** An address in its canonical spelling. A text that is no address is returned unchanged. */
export function canonicalAddress(network: string, text: string): string {
  const parsed = parseAddress(network, text);
  return parsed.ok ? parsed.value : text;
}

/** True for a text with the form of an address in some family. */
export function isAddressForm(text: string): boolean {
  return NAMESPACES.some((name) => FAMILIES[name].hasForm(text));
}

/** True for the CAIP-10 id of an all-zero address, from which no payment is possible. */
export function isZeroAccount(account: string): boolean {
  return familyOf(account)?.isZero(account.slice(account.lastIndexOf(':') + 1)) ?? false;
}

/** The canonical spelling of a transaction id of the network. Undefined for another text. */
export function parseTransactionId(network: string, text: string): string | undefined {
  return familyOf(network)?.parseTransactionId(text);
}

/** The canonical spelling of a transaction id whose network is not known. The forms of the families exclude each other. */
export function findTransactionId(text: string): string | undefined {
  return NAMESPACES.map((name) => FAMILIES[name].parseTransactionId(text)).find((id) => id !== undefined);
}

/** True for a text with the form of a wallet's signature on the network. */
export function isSignatureForm(network: string, text: string): boolean {
  return familyOf(network)?.isSignature(text) ?? false;
}

/**
 * The keys under which a list of accounts finds an account: its CAIP-10 id, and the address alone if it is the same account on
 * every network of its family.
 */
export function listKeysOf(account: string): readonly string[] {
  const key = caipKey(account);
  return familyOf(account)?.spansNetworks === true ? [key, key.slice(key.lastIndexOf(':') + 1)] : [key];
}

/** The list key of an address without a network. Undefined for another text. */
export function bareListKey(text: string): string | undefined {
  const [found] = NAMESPACES.filter((name) => FAMILIES[name].spansNetworks)
    .map((name) => ({ family: FAMILIES[name], key: caipKey(`${name}:${text}`).slice(name.length + 1) }))
    .filter(({ family, key }) => family.hasForm(key));
  return found?.key;
}

/**
 * A CAIP id in lower case, if letter case is only a checksum on its network; otherwise the id unchanged. Entries of address lists
 * may have any spelling, because people and machines copy them.
 */
export function withoutChecksum(id: string): string {
  const folded = id.toLowerCase();
  return isCaseIgnored(folded) ? folded : id;
}
