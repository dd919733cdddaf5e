/** The result of comparing a chain with our data about it. */
export interface ChainCheck {
  /** CAIP-19 ids of the payable assets. */
  readonly payable: readonly string[];
  /** CAIP-19 ids of the assets whose state is unknown, because no endpoint answered. */
  readonly unchecked: readonly string[];
  readonly problems: readonly ChainProblem[];
}

export interface ChainProblem {
  /** The asset (CAIP-19) or the network (CAIP-2) that is affected. */
  readonly subject: string;
  /** A sentence for the operator, which names the subject. */
  readonly message: string;
}
