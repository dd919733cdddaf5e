/** The result of comparing a chain with our data about it. */
export interface ChainCheck {
  /** CAIP-19 ids of the payable assets. */
  readonly payable: readonly string[];
  /** CAIP-19 ids of the assets whose state is unknown, because too few endpoints answered, or they contradict each other. */
  readonly unchecked: readonly string[];
  readonly problems: readonly ChainProblem[];
  /** The contradictions of endpoints, one sentence for each. An asset or contract in dispute keeps its previous state. */
  readonly disputes: readonly string[];
}

export interface ChainProblem {
  /** The asset (CAIP-19) or the network (CAIP-2) that is affected. */
  readonly subject: string;
  /** A sentence for the operator, which names the subject. */
  readonly message: string;
}
