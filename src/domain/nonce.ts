import type { HeardNonce } from './quorum.ts';

/** The nonces that a signer's journal knows. */
export interface JournalNonces {
  /** The highest nonce that was ever taken. */
  readonly last: number | undefined;
  /** The highest nonce that is mined at final depth. All lower ones are mined as well. */
  readonly lastFinal: number | undefined;
}

export interface PlacedNonce {
  /** Nonces below it are mined. */
  readonly mined: number;
  /** Final sends from this nonce on are not mined any more, by the word of two endpoints. */
  readonly reopenFrom: number | undefined;
  /** False while the answers leave open which nonce is free. */
  readonly mayTake: boolean;
}

/**
 * Sends of a signer are planned this far ahead of its mined nonce, and no further. Far fewer are in flight at a time. A
 * stored nonce beyond it came from a wrong answer: it waits until the others reach it, and nothing is sent to reach it.
 */
export const NONCE_REACH = 64;

/**
 * The place of a signer in its journal. Two endpoints say how many transactions are mined. A single answer counts within the
 * nonces of the journal alone, where it decides about nothing but another broadcast. Undefined if nothing is known.
 */
export function placeNonce(heard: HeardNonce, { last, lastFinal }: JournalNonces): PlacedNonce | undefined {
  const known = lastFinal === undefined ? 0 : lastFinal + 1;
  const { atLeast, atMost, said } = heard;
  if (atLeast !== undefined && atMost !== undefined) {
    if (atMost < known) return { mined: atMost, reopenFrom: atMost, mayTake: true };
    return { mined: Math.max(atLeast, known), reopenFrom: undefined, mayTake: true };
  }
  if (said === undefined || last === undefined) return undefined;
  const isWithin = said <= last + 1;
  return { mined: isWithin ? Math.max(said, known) : known, reopenFrom: undefined, mayTake: isWithin };
}

/** True if a single answer contradicts the journal, so that a second answer is needed. */
export function isOutside({ said }: HeardNonce, { last, lastFinal }: JournalNonces): boolean {
  return said !== undefined && (last === undefined || said > last + 1 || said <= (lastFinal ?? -1));
}

/** The answers of the only endpoint, about its newest block and about a final one, as those of two. */
export function withFinal(heard: HeardNonce, atFinal: number): HeardNonce {
  const said = heard.said ?? atFinal;
  return { ...heard, atLeast: Math.min(said, atFinal), atMost: Math.max(said, atFinal) };
}
