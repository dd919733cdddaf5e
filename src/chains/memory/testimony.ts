import type { ChainEvent } from '../chain.ts';

/** How one endpoint bends the truth when it is asked alone. */
export interface Testimony extends TestimonyLies {
  readonly name: string;
  /** Whether two others have contradicted it. */
  isDistrusted: boolean;
}

export interface TestimonyLies {
  /** Gives no answer, for so long by now. */
  silentForMs: number | undefined;
  /** Claims so many blocks more than there are; below zero, it lags behind. */
  headAhead: number;
  /** Has other blocks than everybody else. */
  hasOtherBlocks: boolean;
  /** Calls every authorization unused. */
  deniesUse: boolean;
  /** Shows no event with one of these commitments. */
  hidden: readonly string[];
  /** Shows these besides what is there, also in the receipts of their transactions. */
  invented: readonly ChainEvent[];
}

export const HONEST_TESTIMONY: TestimonyLies = {
  silentForMs: undefined,
  headAhead: 0,
  hasOtherBlocks: false,
  deniesUse: false,
  hidden: [],
  invented: [],
};

export function honestTestimony(name: string): Testimony {
  return { name, isDistrusted: false, ...HONEST_TESTIMONY };
}
