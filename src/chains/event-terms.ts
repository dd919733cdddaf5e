/** The terms of an item that only later releases of the Collector show. */
export interface PaidTerms {
  /** The place where its nonce is used up. */
  readonly nonceSpace: 'coin' | 'token' | 'permit2';
  readonly feeAccount: string;
  /** Unix seconds. Anybody may choose any number of 32 bytes for an event of their own. */
  readonly deadline: bigint;
}

export interface SweptTerms {
  /** CAIP-19, on this network. */
  readonly askedAsset: string;
  readonly feeAccount: string;
  readonly asked: bigint;
  readonly askedFee: bigint;
}
