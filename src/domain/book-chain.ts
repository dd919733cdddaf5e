import { createHash } from 'node:crypto';
import type { Entry } from './books.ts';

/** This file defines the chain of hashes over the book entries of a network: each hash covers an entry and the hash before it. */

export interface PlacedEntry extends Entry {
  readonly sequence: number;
  readonly at: Date;
}

/** The hash before the first entry of a network. */
export function firstHash(network: string): string {
  return sha256(`till books of ${network}`);
}

/** The hash of an entry. It changes when anything in the entry, or in an entry before it, changes. */
export function entryHash(previous: string, { sequence, at, lines, ...entry }: PlacedEntry): string {
  const content = [
    previous,
    sequence,
    at.toISOString(),
    entry.network,
    entry.asset,
    entry.kind,
    entry.subject,
    entry.reference,
    entry.merchantId,
    entry.transaction,
    entry.block,
    entry.note,
    lines.map(({ account, units }) => [account, units.toString()]),
  ];
  return sha256(JSON.stringify(content));
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
