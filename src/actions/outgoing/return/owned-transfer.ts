import type { Incoming } from '../../../chains/chain-reader.ts';
import type { Ends } from '../../../domain/money/owner.ts';

/** A transfer with the owners of its two ends, the sender's and the recipient's: see `domain/money/owner.ts`. */
export interface OwnedTransfer {
  readonly transfer: Incoming;
  readonly ends: Ends;
}
