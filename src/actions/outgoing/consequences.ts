import type { Outgoing } from '../../store/money/outgoing.ts';
import type { Tx } from '../../store/plumbing/database.ts';

/** What proves, at final depth, that something has arrived. */
export interface ArrivalProof {
  readonly transaction: string;
  readonly block: number;
}

/** Why something will not be tried again by itself. */
export interface Failure {
  readonly problem: string;
  /** What else is known of it. */
  readonly evidence?: Readonly<Record<string, unknown>>;
}

/**
 * What follows for whatever the money was sent for, in the transaction that decides it. Each is called once for each turn
 * of its life: whoever calls it holds the lock on its row in `outgoing` and has seen that row in the state before.
 */
export interface Consequences {
  /** It has arrived. */
  paid(tx: Tx, outgoing: Outgoing, proof: ArrivalProof, at: Date): Promise<void>;
  /** It will not be tried again by itself: the money is where it was. */
  failed(tx: Tx, outgoing: Outgoing, failure: Failure, at: Date): Promise<void>;
  /** It had arrived, and a reorganisation deeper than final depth took that back for good: it is sent again. */
  undone(tx: Tx, outgoing: Outgoing, at: Date): Promise<void>;
}
