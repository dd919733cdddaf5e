import type { PayMethod } from '../domain/item.ts';

/** The terms of a paid item that only the events of later releases of the Collector show. */
export interface PaidTerms {
  readonly method: PayMethod;
  readonly feeAccount: string;
  /** The deadline in Unix seconds. It can have 256 bits: anybody can emit an event with a deadline of their choice. */
  readonly deadline: bigint;
}

export interface SweptTerms {
  /** The asset that the deposit address was made for. A CAIP-19 id on this network. */
  readonly askedAsset: string;
  readonly feeAccount: string;
  readonly asked: bigint;
  readonly askedFee: bigint;
}
