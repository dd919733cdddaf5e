import type { ReportedSlots } from './quorum.ts';

/**
 * The slots of a signer: the numbers of its transactions, counted from 0 and used in their order. EVM chains call them nonces. A
 * slot is used as soon as a transaction with this number is mined.
 */

/** The slots of a signer according to its stored sends. */
export interface JournalSlots {
  /** The highest slot that was ever assigned. */
  readonly last: number | undefined;
  /** The highest slot that is used at final depth. All lower slots are used as well. */
  readonly lastFinal: number | undefined;
}

export interface PlacedSlots {
  /** The number of used slots. All slots below this number are used. */
  readonly used: number;
  /** The first slot that was used at final depth and, by the answers of two endpoints, is used no more. Undefined if there is none. */
  readonly reopenFrom: number | undefined;
  /** True if the answers show which slot is free, so that a new send may take it. */
  readonly mayTake: boolean;
}

/**
 * The number of slots after the used ones for which sends are planned. Far fewer are in flight at a time. A stored slot beyond
 * this bound came from a wrong answer. It waits until the other slots reach it, and no sends are made to fill the gap.
 */
export const SLOT_REACH = 64;

/**
 * The used slots of a signer, from the answers of endpoints and the stored sends. Two endpoints must agree. A single answer
 * counts only if it reports no slot beyond the last stored send as used. If such an answer is wrong, it causes at most another
 * broadcast. Undefined if nothing is known.
 */
export function placeSlots(reported: ReportedSlots, { last, lastFinal }: JournalSlots): PlacedSlots | undefined {
  const known = lastFinal === undefined ? 0 : lastFinal + 1;
  const { atLeast, atMost, soleCount } = reported;
  if (atLeast !== undefined && atMost !== undefined) {
    if (atMost < known) return { used: atMost, reopenFrom: atMost, mayTake: true };
    return { used: Math.max(atLeast, known), reopenFrom: undefined, mayTake: true };
  }
  if (soleCount === undefined || last === undefined) return undefined;
  const isWithin = soleCount <= last + 1;
  return { used: isWithin ? Math.max(soleCount, known) : known, reopenFrom: undefined, mayTake: isWithin };
}

/** True if a single answer contradicts the stored sends, so that a second answer is needed. */
export function isOutside({ soleCount }: ReportedSlots, { last, lastFinal }: JournalSlots): boolean {
  return soleCount !== undefined && (last === undefined || soleCount > last + 1 || soleCount <= (lastFinal ?? -1));
}

/** Treats two answers of the only endpoint, about its newest and about a final block, like the answers of two endpoints. */
export function withFinal(reported: ReportedSlots, atFinal: number): ReportedSlots {
  const soleCount = reported.soleCount ?? atFinal;
  return { ...reported, atLeast: Math.min(soleCount, atFinal), atMost: Math.max(soleCount, atFinal) };
}
