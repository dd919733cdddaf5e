import { keccak_256 } from '@noble/hashes/sha3.js';

export function keccak(data: Uint8Array): Uint8Array {
  return keccak_256(data);
}

export function fromHex(hex: string): Uint8Array {
  const digits = hex.replace(/^0x/, '');
  const even = digits.length % 2 === 0 ? digits : `0${digits}`;
  return Uint8Array.from(even.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

export function toHex(bytes: Uint8Array): string {
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/** The bytes without leading zeros, as RLP encodes integers. */
export function integerBytes(value: bigint): Uint8Array {
  return value === 0n ? new Uint8Array() : fromHex(value.toString(16));
}

/** 32 bytes, the word size of the EVM and of EIP-712. */
export function word(value: bigint): Uint8Array {
  return fromHex(BigInt.asUintN(256, value).toString(16).padStart(64, '0'));
}
