import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { SignedItem } from '../../domain/item.ts';
import { readKeySignature, recoverAddress } from '../evm/key-signature.ts';
import type { Fees } from '../evm/offer.ts';
import type { Signer } from '../signer.ts';
import type { Ledger, Log } from './ledger.ts';

export interface Transaction {
  readonly hash: string;
  readonly from: string;
  readonly nonce: number;
  readonly fees: Fees;
  readonly gasLimit: bigint;
  readonly payload: Payload;
}

export type Payload =
  | { readonly kind: 'batch'; readonly batch: readonly SignedItem[] }
  | { readonly kind: 'nothing' }
  /** A transaction of a payer or a stranger. The port never reads the bytes of such a transaction. */
  | {
      readonly kind: 'act';
      readonly value: bigint;
      readonly act: (ledger: Ledger) => readonly Log[];
      /** The parameters of the wallet action, if a payer's wallet was asked to send the transaction. */
      readonly call?: WalletCall;
    };

/** The parameters of an `eth_sendTransaction` action. */
export interface WalletCall {
  readonly from: string;
  readonly to: string;
  readonly value?: string;
  readonly data?: string;
}

/** The amount of native coin that a transaction sends. */
export function coinIn(payload: Payload): bigint {
  if (payload.kind === 'act') return payload.value;
  const [only] = payload.kind === 'batch' ? payload.batch : [];
  return only?.item.method === 'native' ? only.item.amount : 0n;
}

/** The signed part of a relayer's transaction: everything except its hash. */
export interface Draft {
  readonly network: string;
  readonly from: string;
  readonly nonce: number;
  readonly fees: Fees;
  readonly gasLimit: bigint;
  readonly payload: Exclude<Payload, { kind: 'act' }>;
}

/** Encodes the transaction in this chain's own format, signed as on any EVM chain. */
export async function signDraft(draft: Draft, signer: Signer): Promise<{ hash: string; bytes: string }> {
  const body = write(draft);
  const { network, payload, ...transaction } = draft;
  const items = payload.kind === 'batch' ? payload.batch.map(({ item }) => item) : [];
  const content = { kind: 'transaction', network, transaction, items } as const;
  const { r, s, yParity } = await signer.sign(keccak_256(utf8ToBytes(body)), content);
  const bytes = `0x${bytesToHex(utf8ToBytes(write({ body, r, s, yParity })))}`;
  return { hash: hashOfBytes(bytes), bytes };
}

/** Decodes a transaction. Undefined unless the bytes are a transaction of this network with a valid signature of its sender. */
export function readTransaction(bytes: string, network: string): Transaction | undefined {
  try {
    const { body, r, s, yParity } = read(Buffer.from(bytes.slice(2), 'hex').toString()) as {
      body: string;
      r: bigint;
      s: bigint;
      yParity: 0 | 1;
    };
    const { network: named, ...draft } = read(body) as Draft;
    const signature = readKeySignature(`0x${word(r)}${word(s)}0${yParity}`);
    const signer = signature && recoverAddress(keccak_256(utf8ToBytes(body)), signature);
    if (named !== network || signer !== draft.from.toLowerCase()) return undefined;
    return { ...draft, hash: hashOfBytes(bytes) };
  } catch {
    return undefined;
  }
}

export const hashOfText = (text: string): string => `0x${bytesToHex(keccak_256(utf8ToBytes(text)))}`;

const hashOfBytes = (bytes: string): string => `0x${bytesToHex(keccak_256(hexToBytes(bytes.slice(2))))}`;
const word = (value: bigint): string => value.toString(16).padStart(64, '0');

/**
 * Writes JSON. A bigint becomes a string of its digits and an `n`, because JSON has no big integers. No other value in a
 * transaction has that form.
 */
const write = (value: unknown): string =>
  JSON.stringify(value, (_, field: unknown) => (typeof field === 'bigint' ? `${field}n` : field));
const read = (text: string): unknown =>
  JSON.parse(text, (_, field: unknown) =>
    typeof field === 'string' && /^\d+n$/.test(field) ? BigInt(field.slice(0, -1)) : field,
  );
