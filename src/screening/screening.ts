/** Screens accounts against the operator's list. It answers from memory, so that it can be called anywhere. */
export interface Screening {
  /** Screens these CAIP-10 accounts. */
  decide(accounts: readonly string[]): ScreeningDecision;
}

export interface ScreeningDecision {
  /** The accounts that are on the list, as they were spelled in the question. */
  readonly hits: readonly string[];
  /** The list in force, kept as evidence. Null when there is none: then nothing was screened. */
  readonly list: ListIdentity | null;
}

export interface ListIdentity {
  /** SHA-256 of the file, in hex. */
  readonly hash: string;
  readonly version: string;
  /** The day the list is of, as YYYY-MM-DD. */
  readonly date: string;
}

/** For a gateway without a list: nothing is screened, and every decision records that. */
export const NO_SCREENING: Screening = { decide: () => ({ hits: [], list: null }) };
