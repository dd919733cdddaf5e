import type { AlertName } from './alert.ts';
import type { PaymentStatus } from './payment.ts';
import type { OutgoingFacts } from './wait-money.ts';

/** The facts from which the reason of a wait follows. Times are milliseconds since the epoch. */
export interface WaitFacts {
  readonly nowMs: number;
  /** As everybody sees it. */
  readonly status: PaymentStatus;
  /** The time of the last change. */
  readonly sinceMs: number;
  readonly expiresAtMs: number;
  /** The freezes and suspensions that stop the merchant. */
  readonly stops: readonly StopFacts[];
  /** The attempts that are not over. */
  readonly attempts: readonly AttemptFacts[];
  /** True if a deep reorganisation took the transaction of a succeeded payment away. */
  readonly isReorganised: boolean;
  /** The refund of the payment, or the payout of its held amount, while it is not over. */
  readonly outgoing: OutgoingFacts | undefined;
}

/** A freeze or a suspension. */
export interface StopFacts {
  /** The noun of a sentence: `The merchant mrch_… is frozen`. */
  readonly what: string;
  readonly reason: string;
  readonly by: string | undefined;
  readonly sinceMs: number | undefined;
  /** The command that lifts it. */
  readonly lift: string;
}

export interface AttemptFacts {
  readonly state: 'offered' | 'due' | 'sent';
  readonly network: NetworkFacts;
  readonly acceptedAtMs: number;
  readonly deadlineMs: number;
  /** The reason of the last refusal by a simulation or a transaction, and the time of the next try. */
  readonly refusal: string | null;
  readonly retryAtMs: number | null;
  /** The amount that the payer lacks, such as `1.20 USDC`; undefined if it is not known. */
  readonly shortBy: string | undefined;
  /** True if the limits of failures and gas are reached: it is not sent again. */
  readonly isExhausted: boolean;
  /** Nothing of its payer is sent before then. */
  readonly payerRetryAtMs: number | null;
  /** The freeze of its network. */
  readonly stop: StopFacts | undefined;
  /** The newest transaction that carries it. */
  readonly transaction: TransactionFacts | undefined;
  /** The block that shows it as paid. */
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
  /** The needed depth in blocks, the own one included. */
  readonly depth: number;
  /** The depth that counts while a single endpoint answers; undefined if the amount is too large for that. */
  readonly loneDepth: number | undefined;
  /** The block tag that must have reached the block as well. */
  readonly tag: string | undefined;
  /** The answers of the endpoints about its transaction, if they were asked. */
  readonly said: string | undefined;
}

export interface NetworkFacts {
  readonly name: string;
  readonly blockTimeMs: number;
  /** The height of the chain; undefined if it could not be asked. */
  readonly head: number | undefined;
  /** The last block that the watcher has read. */
  readonly readBlock: number | undefined;
  /** The time of the last final block. */
  readonly finalAtMs: number | undefined;
  /** True if relayers are configured, as far as the asking program knows. */
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
