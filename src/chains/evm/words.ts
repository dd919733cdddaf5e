import { keccak_256 } from '@noble/hashes/sha3.js';
import type { Hex } from './rpc-values.ts';

/** ABI encoding by hand. Our calls use plain words only, and packing them is many times faster than with a library. */

export type Word = string;

export const uint = (value: bigint | number): Word => value.toString(16).padStart(64, '0');
export const address = (value: string): Word => value.slice(2).toLowerCase().padStart(64, '0');
export const bytes32 = (value: string): Word => value.slice(2).toLowerCase();

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
