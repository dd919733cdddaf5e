import type { Parsed } from '../parsed.ts';

/**
 * The rules by which a chain family spells addresses, transaction ids and signatures. Only the file of a family measures,
 * compares or changes such texts. All other code uses the functions of `families.ts`.
 */
export interface Addresses {
  /** The CAIP-19 namespace of tokens. */
  readonly tokenKind: 'erc20' | 'token';
  /**
   * True if spellings that differ in letter case alone are the same address or transaction. The rule must hold for all addresses
   * and transaction ids of the family, because SQL compares them by the same rule.
   */
  readonly ignoresCase: boolean;
  /** True if an address is the same account on every network of the family, so that a list may name it without a network. */
  readonly spansNetworks: boolean;
  /** The family's word for a slot: the number of a transaction among those of its account. */
  readonly slotWord: string;
  /** The family's word for the units of execution that a transaction uses. */
  readonly workWord: string;
  /** The family's word for the program that takes tokens of an account by its approval. */
  readonly spenderWord: string;
  /** The form of a key's signature, in messages to people. */
  readonly signatureRule: string;
  /** The decimals of the coin of every network of the family. Undefined where the family has no such rule. */
  readonly coinDecimals?: number;
  /** The text that is stored as the signature of an item that needs no signature. */
  readonly noSignature: string;
  /** The spelling of bytes that are no address, such as a commitment. `hex` has no prefix. */
  spellBytes(hex: string): string;
  /** Checks the reference of a network, which is the second part of a CAIP-2 id. */
  parseReference(text: string): Parsed<string>;
  /** The canonical spelling of an address, as it is stored and shown. Refuses the all-zero address. */
  parse(text: string): Parsed<string>;
  /** True for a text with the form of an address, even with a wrong checksum. */
  hasForm(text: string): boolean;
  /** True for the all-zero address. */
  isZero(address: string): boolean;
  /** The canonical spelling of a transaction id. Undefined for another text. */
  parseTransactionId(text: string): string | undefined;
  /** True for a text with the form of a wallet's signature. Only the chain can tell whether the signature is valid. */
  isSignature(text: string): boolean;
}
