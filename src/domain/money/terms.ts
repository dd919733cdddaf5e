import type { LateReason } from '../late-money.ts';

/** The terms of a payment that decide about its money. They are stored, and never change after the first use. */
export interface PaymentTerms {
  readonly payment: string;
  readonly merchant: string;
  readonly ways: readonly Way[];
  /** The operator's tolerance in hundredths of a percent. It applies to deposit addresses, after the deadline. */
  readonly toleranceBasisPoints: number;
  /** For each asset, the amount below which a transfer joins an earlier lot. Without such an amount, every transfer is a lot. */
  readonly dustBelow: Readonly<Record<string, bigint>>;
}

/**
 * One way to pay: a deposit address, or an item that a payer signs. Its key is network and commitment. The commitment of a
 * deposit address does not contain the network, so one commitment can be a way on several networks.
 */
export interface Way {
  readonly kind: 'deposit' | 'item';
  readonly network: string;
  readonly commitment: string;
  /** A CAIP-19 id. */
  readonly asset: string;
  readonly asked: bigint;
  readonly fee: bigint;
  /** The deadline in Unix seconds. Money of later blocks does not count. */
  readonly deadlineS: number;
  readonly recipient: string;
  /** True if the recipient is an account of ours, which holds the money for the merchant. */
  readonly isHeld: boolean;
}

/** The end of a payment. It is stored once, and facts that are read later do not change it. */
export type Ending = PaidEnding | UnpaidEnding;

export interface PaidEnding {
  readonly is: 'paid';
  readonly network: string;
  readonly commitment: string;
  /** The amount that paid. It is the asked amount, or less if the tolerance allowed it. */
  readonly amount: bigint;
  /** The lots that paid, by id. */
  readonly lots: readonly string[];
}

export interface UnpaidEnding {
  readonly is: 'unpaid';
  /** The last deadline in Unix seconds. Money of earlier blocks was in time, but too little. */
  readonly untilS: number;
}

/**
 * Money of one payment, in one asset of one network. Every unit of `amount` waits at the deposit address, is a fee, or has
 * reached the account: `amount = waiting + fee + net`. Lots of different payments, networks, assets or accounts are never added
 * up.
 */
export interface Lot {
  /** The id, computed from the chain alone. It stays the same if a reorg moves the transaction to another block. */
  readonly id: string;
  readonly payment: string;
  readonly commitment: string;
  readonly network: string;
  readonly asset: string;
  /** The deposit address. Null for an item, whose money goes to the account at once. */
  readonly address: string | null;
  /** The account of the recipient. */
  readonly account: string;
  readonly isHeld: boolean;
  readonly amount: bigint;
  readonly waiting: bigint;
  readonly fee: bigint;
  readonly net: bigint;
  /** The part of `waiting` that is a fee: a sweep left it at the address because the token refused the fee account. */
  readonly owed: bigint;
  /** True for the money that paid the payment. */
  readonly isPaying: boolean;
  /** The reason why the money does not count. Null for money that paid, or that may still pay a payment without an ending. */
  readonly reason: LateReason | null;
  readonly isScreened: boolean;
  /** True for swept money of which no arrival is known. An operator must check the deposit address. */
  readonly isUnexplained: boolean;
}
