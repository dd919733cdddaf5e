/** The price that one of our transactions offers for its execution, such as gas fees. */
export interface Offer {
  /**
   * The highest price of a unit of execution, in the smallest unit of the coin. Of the versions of a slot, the one with the highest
   * price is in force.
   */
  readonly price: bigint;
  /** Further terms. Only the chain family reads them; the journal keeps them with the transaction. */
  readonly terms: Readonly<Record<string, string>>;
}
