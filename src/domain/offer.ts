/** The price that one of our transactions offers for its execution, such as gas fees. */
export interface Offer {
  /**
   * The highest price that the transaction pays for a unit of execution, in the smallest unit of the coin. Of the versions of a
   * slot, the one with the highest price is in force.
   */
  readonly price: bigint;
  /** Further terms of the offer. Only the code of the chain family reads them. They are stored with the signed transaction. */
  readonly terms: Readonly<Record<string, string>>;
}
