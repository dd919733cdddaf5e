import type { Block, BlockId } from '../chain-reader.ts';

/** This file reads values in the answers of nodes. Each reader throws when the value has the wrong form. */

export type Hex = `0x${string}`;

export function readQuantity(value: unknown): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(value)) throw new TypeError('not a quantity');
  return BigInt(value);
}

export function readNumber(value: unknown): number {
  const number = Number(readQuantity(value));
  if (!Number.isSafeInteger(number)) throw new RangeError('not a safe number');
  return number;
}

export function readData(value: unknown): Hex {
  if (typeof value !== 'string' || !/^0x([0-9a-f]{2})*$/i.test(value)) throw new TypeError('not data');
  return value.toLowerCase() as Hex;
}

export function readHash(value: unknown): Hex {
  const data = readData(value);
  if (data.length !== 66) throw new TypeError('not a hash');
  return data;
}

export function readFields(value: unknown): Record<string, unknown> {
  if (!isObject(value) || Array.isArray(value)) throw new TypeError('not an object');
  return value;
}

/** Reads return data of exactly one word. Throws for empty data, which means that there is no contract. */
export function readWord(value: unknown): bigint {
  return BigInt(readHash(value));
}

export function readFlag(value: unknown): boolean {
  const word = readWord(value);
  if (word > 1n) throw new TypeError('not a flag');
  return word === 1n;
}

export function readBlock(value: unknown): Block {
  const { number, hash, parentHash, timestamp } = readFields(value);
  return {
    number: readNumber(number),
    hash: readHash(hash),
    parentHash: readHash(parentHash),
    timestampS: readNumber(timestamp),
  };
}

export function readBlockId({ blockNumber, blockHash }: Record<string, unknown>): BlockId {
  return { number: readNumber(blockNumber), hash: readHash(blockHash) };
}

export const toQuantity = (value: number | bigint): Hex => `0x${value.toString(16)}`;

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
