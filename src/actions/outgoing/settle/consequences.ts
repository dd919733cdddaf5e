import type { RegistryDeps } from '../../../chains/registry.ts';
import type { Outgoing } from '../../../store/money/outgoing.ts';
import type { Tx } from '../../../store/plumbing/database.ts';

/** The proof, at final depth, that a transfer has arrived. */
export interface ArrivalProof {
  readonly transaction: string;
  readonly block: number;
}

/** The reason why a transfer is not retried automatically. */
export interface Failure {
  readonly problem: string;
  readonly evidence?: Readonly<Record<string, unknown>>;
}

/**
 * The consequences of a transfer for its payout, refund or return, in the database transaction that decides about the transfer. The
 * caller holds the lock on the row in `outgoing` and has checked its state, so each method is called once per transfer.
 */
export interface Consequences {
  /** Called when the transfer has arrived. */
  paid(tx: Tx, outgoing: Outgoing, proof: ArrivalProof, at: Date): Promise<void>;
  /** Called when the transfer has failed and is not retried automatically. The money stays on its account. */
  failed(tx: Tx, deps: RegistryDeps, outgoing: Outgoing, failure: Failure, at: Date): Promise<void>;
  /**
   * Called when a reorg deeper than final depth has removed a transfer that had arrived. The gateway then sends the transfer again,
   * unless another transaction on chain has carried it out.
   */
  undone(tx: Tx, deps: RegistryDeps, outgoing: Outgoing, at: Date): Promise<void>;
}
