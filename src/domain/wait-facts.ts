import type { AlertName } from './alert.ts';
import type { PaymentStatus } from './payment.ts';
import type { ListedFacts, OutgoingFacts } from './wait-money.ts';

/** The facts that decide why a payment waits. Times are milliseconds since the epoch. */
export interface WaitFacts {
  readonly nowMs: number;
  /** The status from `visibleStatus`. */
  readonly status: PaymentStatus;
  /** The time of the payment's last change. */
  readonly sinceMs: number;
  readonly expiresAtMs: number;
  /** The freezes and suspensions that stop the merchant. */
  readonly stops: readonly StopFacts[];
  /** Set if the merchant is deleted or its partner is disabled. New payments are then refused, and payments under way continue. */
  readonly closed: StopFacts | undefined;
  /** The attempts that are not over. */
  readonly attempts: readonly AttemptFacts[];
  /** True if a deep reorg removed the transaction of a succeeded payment. */
  readonly isReorganised: boolean;
  /** The unfinished refund of the payment, or the unfinished payout of its held amount. */
  readonly outgoing: OutgoingFacts | undefined;
  /** Money at a deposit address that waits for the operator's decision about its sender. */
  readonly listed: ListedFacts | undefined;
}

export interface StopFacts {
  /** The freeze or suspension as a main clause, such as `The merchant mrch_… is frozen`. */
  readonly what: string;
  readonly reason: string;
  readonly by: string | undefined;
  readonly sinceMs: number | undefined;
  /** The command that lifts the freeze or suspension. */
  readonly lift: string;
}

export interface AttemptFacts {
  readonly state: 'offered' | 'due' | 'sent';
  /** True for a deposit address. Money may have arrived there that does not pay the payment. */
  readonly isDeposit: boolean;
  readonly network: NetworkFacts;
  readonly acceptedAtMs: number;
  readonly deadlineMs: number;
  /** The reason of the last refusal by a simulation or a transaction on chain. `retryAtMs` is the time of the next try. */
  readonly refusal: string | null;
  readonly retryAtMs: number | null;
  /** The amount that the payer lacks, such as `1.20 USDC`. Undefined if unknown. */
  readonly shortBy: string | undefined;
  /** True if the attempt has reached a limit of failures or gas. It is then not sent again. */
  readonly isExhausted: boolean;
  /** The time before which no attempt of this payer is sent. */
  readonly payerRetryAtMs: number | null;
  /** The freeze of the network, if any. */
  readonly stop: StopFacts | undefined;
  /** The newest transaction that carries the attempt. */
  readonly transaction: TransactionFacts | undefined;
  /** The block that shows the attempt as paid. */
  readonly seen: SeenFacts | undefined;
}

export interface TransactionFacts {
  readonly hash: string;
  readonly version: number;
  readonly broadcastAtMs: number | undefined;
}

export interface SeenFacts {
  readonly block: number;
  readonly readAtMs: number | undefined;
  /** The needed depth in blocks, including the block itself. */
  readonly depth: number;
  /** The needed depth while only one endpoint answers. Undefined if the amount is too large for a single endpoint. */
  readonly loneDepth: number | undefined;
  /** The block tag, such as `finalized`, that must have reached the block as well. */
  readonly tag: string | undefined;
  /** The answers of the endpoints about the transaction, if they were asked. */
  readonly answers: string | undefined;
}

export interface NetworkFacts {
  /** A CAIP-2 id. */
  readonly chainId: string;
  readonly name: string;
  readonly blockTimeMs: number;
  /** The height of the chain. Undefined if the chain could not be read. */
  readonly head: number | undefined;
  /** The last block that the watcher has read. */
  readonly readBlock: number | undefined;
  /** The time of the last final block. */
  readonly finalAtMs: number | undefined;
  /** True if relayers are configured, as far as this program knows. */
  readonly hasRelayer: boolean;
  readonly isWatched: boolean;
  readonly isRelayed: boolean;
  /** The alerts about the network and its accounts. */
  readonly alerts: readonly AlertFacts[];
}

export interface AlertFacts {
  readonly name: AlertName;
  readonly message: string;
  readonly sinceMs: number;
}
