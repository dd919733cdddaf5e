import type { ReportedNonce } from './quorum.ts';

/** The nonces in a signer's journal of sends. */
export interface JournalNonces {
  /** The highest nonce that was ever assigned. */
  readonly last: number | undefined;
  /** The highest nonce that is mined at final depth. All lower ones are mined as well. */
  readonly lastFinal: number | undefined;
}

export interface PlacedNonce {
  /** All nonces below are mined. */
  readonly mined: number;
  /** Two endpoints agree that sends from this nonce on, which were final, are no longer mined. */
  readonly reopenFrom: number | undefined;
  /** False while the answers do not show which nonce is free. */
  readonly mayTake: boolean;
}

/**
 * Sends of a signer are planned at most this far ahead of its mined nonce. Far fewer are in flight at a time. A stored nonce
 * beyond this bound came from a wrong answer. It waits until the other nonces reach it, and no sends are made to fill the gap.
 */
export const NONCE_REACH = 64;

/**
 * The mined nonce of a signer, from the answers of endpoints and the journal. Two endpoints must agree. A single answer counts
 * only within the nonces of the journal, where the worst that it can cause is another broadcast. Undefined if nothing is known.
 */
export function placeNonce(reported: ReportedNonce, { last, lastFinal }: JournalNonces): PlacedNonce | undefined {
  const known = lastFinal === undefined ? 0 : lastFinal + 1;
  const { atLeast, atMost, soleCount } = reported;
  if (atLeast !== undefined && atMost !== undefined) {
    if (atMost < known) return { mined: atMost, reopenFrom: atMost, mayTake: true };
    return { mined: Math.max(atLeast, known), reopenFrom: undefined, mayTake: true };
  }
  if (soleCount === undefined || last === undefined) return undefined;
  const isWithin = soleCount <= last + 1;
  return { mined: isWithin ? Math.max(soleCount, known) : known, reopenFrom: undefined, mayTake: isWithin };
}

/** True if a single answer contradicts the journal, so that a second answer is needed. */
export function isOutside({ soleCount }: ReportedNonce, { last, lastFinal }: JournalNonces): boolean {
  return soleCount !== undefined && (last === undefined || soleCount > last + 1 || soleCount <= (lastFinal ?? -1));
}

/** Treats two answers of the only endpoint, about its newest and about a final block, like the answers of two endpoints. */
export function withFinal(reported: ReportedNonce, atFinal: number): ReportedNonce {
  const soleCount = reported.soleCount ?? atFinal;
  return { ...reported, atLeast: Math.min(soleCount, atFinal), atMost: Math.max(soleCount, atFinal) };
}
