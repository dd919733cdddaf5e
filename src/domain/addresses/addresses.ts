import type { Parsed } from '../parsed.ts';

/**
 * How a chain family spells the names on its chains. Only its file measures, compares or changes the text of an address, a
 * transaction id or a signature. All other code uses the functions of `families.ts`.
 */
export interface Addresses {
  /** The CAIP-19 namespace of tokens. */
  readonly tokenKind: 'erc20' | 'token';
  /**
   * True if spellings that differ in letter case alone are the same address or transaction. The database compares by this fact,
   * too, so it holds for everything that the family names.
   */
  readonly ignoresCase: boolean;
  /** True if an address is the same account on every network of the family, so that a list may name it without a network. */
  readonly spansNetworks: boolean;
  /** The family's word for the place of a transaction among those of its account. */
  readonly slotWord: string;
  /** The family's word for the units of execution that a transaction uses. */
  readonly workWord: string;
  /** The family's word for the program that takes tokens of an account by its approval. */
  readonly spenderWord: string;
  /** The form of a key's signature, in messages to people. */
  readonly signatureRule: string;
  /** The decimals of the coin of every network of the family. Undefined where the family has no such rule. */
  readonly coinDecimals?: number;
  /** The signature of an item that needs none, as it is stored. */
  readonly noSignature: string;
  /** The spelling of bytes that are no address, such as a commitment. They are given in hex, without a prefix. */
  spellBytes(hex: string): string;
  /** The second part of a CAIP-2 id. */
  parseReference(text: string): Parsed<string>;
  /** The canonical spelling of an address, as it is stored and shown. Refuses the all-zero address. */
  parse(text: string): Parsed<string>;
  /** True for a text with the form of an address, whatever its checksum. */
  hasForm(text: string): boolean;
  /** True for the all-zero address. */
  isZero(address: string): boolean;
  /** The canonical spelling of a transaction id. Undefined for another text. */
  parseTransactionId(text: string): string | undefined;
  /** True for a text with the form of a wallet's signature. Only the chain knows whether it is a good one. */
  isSignature(text: string): boolean;
}
