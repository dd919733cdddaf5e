import { concat, fromHex, integerBytes, keccak, toHex } from './bytes.ts';
import type { Key } from './key.ts';

/** A type-2 transaction (EIP-1559) without an access list. */
export interface Transaction {
  readonly chainId: bigint;
  readonly nonce: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly maxFeePerGas: bigint;
  readonly gas: bigint;
  readonly to: string;
  readonly value: bigint;
  readonly data: string;
}

const TYPE = Uint8Array.of(2);

export function signTransaction(transaction: Transaction, key: Key): string {
  const fields = [
    integerBytes(transaction.chainId),
    integerBytes(transaction.nonce),
    integerBytes(transaction.maxPriorityFeePerGas),
    integerBytes(transaction.maxFeePerGas),
    integerBytes(transaction.gas),
    fromHex(transaction.to),
    integerBytes(transaction.value),
    fromHex(transaction.data),
    [],
  ];
  const { r, s, yParity } = key.sign(keccak(concat(TYPE, rlp(fields))));
  return toHex(concat(TYPE, rlp([...fields, integerBytes(BigInt(yParity)), integerBytes(r), integerBytes(s)])));
}

type Rlp = Uint8Array | readonly Rlp[];

function rlp(item: Rlp): Uint8Array {
  if (item instanceof Uint8Array) {
    const [first = 0x80] = item;
    return item.length === 1 && first < 0x80 ? item : concat(header(item.length, 0x80), item);
  }
  const content = concat(...item.map(rlp));
  return concat(header(content.length, 0xc0), content);
}

function header(length: number, offset: number): Uint8Array {
  if (length < 56) return Uint8Array.of(offset + length);
  const size = integerBytes(BigInt(length));
  return concat(Uint8Array.of(offset + 55 + size.length), size);
}
