/** Screens accounts against the operator's list. The answer comes from memory, so that any code may ask. */
export interface Screening {
  decide(accounts: readonly string[]): ScreeningDecision;
}

export interface ScreeningDecision {
  /** The accounts of the call that are on the list, spelled as in the call. */
  readonly hits: readonly string[];
  /** The list in force, stored with the decision. Null if there is no list: then nothing was screened. */
  readonly list: ListIdentity | null;
}

export interface ListIdentity {
  /** SHA-256 of the file, in hex. */
  readonly hash: string;
  readonly version: string;
  /** The date of the list, as YYYY-MM-DD. */
  readonly date: string;
}

/** For a gateway without a list. Every decision records that nothing was screened. */
export const NO_SCREENING: Screening = { decide: () => ({ hits: [], list: null }) };
