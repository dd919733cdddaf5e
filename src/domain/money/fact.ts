import type { Moment } from './movement.ts';

/** A fact about the money of one payment, read from a transaction on chain. Folds take facts in the order of their moments. */
export type Fact = Arrived | Paid | Moved;

interface FactBase extends Moment {
  readonly transaction: string;
  readonly commitment: string;
  readonly asset: string;
  readonly amount: bigint;
}

export interface Arrived extends FactBase {
  readonly is: 'arrived';
  /** The amount of the first transfer of this arrival. It differs from `amount` if several transfers of dust were added up. */
  readonly first: bigint;
  readonly address: string;
  readonly sender: string;
  /** True if the sender was on the screening list when the transfer was stored. Later changes of the list do not change it. */
  readonly isScreened: boolean;
}

/** An item of a payment was carried out: its net amount is with the recipient, its fee with the fee account. */
export interface Paid extends FactBase {
  readonly is: 'collected';
  readonly fee: bigint;
}

/** A sweep: money at a deposit address went to the recipient and the fee account. The amount contains the fee. */
export interface Moved extends FactBase {
  readonly is: 'swept';
  readonly address: string;
  readonly fee: bigint;
}

/** An order of ours (payout, refund, return) took money from an account of ours. */
export interface Sent extends FactBase {
  readonly is: 'sent';
  readonly account: string;
}
