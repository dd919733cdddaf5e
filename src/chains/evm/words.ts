import { keccak_256 } from '@noble/hashes/sha3.js';
import { checksumAddress } from '../../domain/addresses/eip155.ts';
import type { Hex } from './rpc-values.ts';

/**
 * This file encodes and decodes ABI words. Our calls use plain words only, and packing these by hand is many times faster than
 * with a library.
 */

export type Word = string;

export const uint = (value: bigint | number): Word => value.toString(16).padStart(64, '0');
export const address = (value: string): Word => value.slice(2).toLowerCase().padStart(64, '0');
export const bytes32 = (value: string): Word => value.slice(2).toLowerCase();

/** The words of data that has exactly `count` words. A general decoder takes ten times as long for an event. */
export function wordsIn(data: Hex, count: number): Word[] {
  if (data.length !== 2 + 64 * count) throw new RangeError(`not data of ${count} words`);
  return Array.from({ length: count }, (_, index) => data.slice(2 + 64 * index, 66 + 64 * index));
}

/** The address in a word, in canonical spelling. */
export function addressIn(word: Word): Hex {
  if (!word.startsWith(NO_ADDRESS)) throw new RangeError('not the word of an address');
  return checksumAddress(`0x${word.slice(NO_ADDRESS.length).toLowerCase()}`) as Hex;
}

const NO_ADDRESS = '0'.repeat(24);

export const uintIn = (word: Word): bigint => BigInt(`0x${word}`);

/** The only indexed field of an event, which is one word. */
export function indexedWord(topics: readonly Hex[]): Hex {
  const [, word] = topics;
  if (topics.length !== 2 || word?.length !== 66)
    throw new RangeError('not the topics of an event with one indexed field');
  return word;
}

/** A number as hex of `size` bytes. */
export function fixed(value: bigint | number, size: number): string {
  const text = value.toString(16);
  if (value < 0 || text.length > 2 * size) throw new RangeError(`${value} does not fit into ${size} bytes`);
  return text.padStart(2 * size, '0');
}

export function keccak(hex: string): Buffer {
  return Buffer.from(keccak_256(Buffer.from(hex, 'hex')));
}

export function keccakText(text: string): Buffer {
  return Buffer.from(keccak_256(Buffer.from(text, 'utf8')));
}

/** Builds the calldata of one function: `functionCall('balanceOf(address)')(address(payer))`. */
export function functionCall(signature: string): (...words: readonly Word[]) => Hex {
  const selector = keccakText(signature).toString('hex', 0, 4);
  return (...words) => `0x${selector}${words.join('')}`;
}
