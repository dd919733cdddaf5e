/** Says with whom the operator may not deal. Answered from memory, so that it can be asked wherever it matters. */
export interface Screening {
  /** Of these CAIP-10 accounts. */
  decide(accounts: readonly string[]): ScreeningDecision;
}

export interface ScreeningDecision {
  /** The accounts that are on the list, as they were spelled in the question. */
  readonly hits: readonly string[];
  /** The list that was asked; null when there is none, and so nothing was screened. Kept as evidence. */
  readonly list: ListIdentity | null;
}

export interface ListIdentity {
  /** SHA-256 of the file, in hex. */
  readonly hash: string;
  readonly version: string;
  /** The day the list is of, as YYYY-MM-DD. */
  readonly date: string;
}

/** For a gateway without a list: nothing is screened, and every decision says so. */
export const NO_SCREENING: Screening = { decide: () => ({ hits: [], list: null }) };
