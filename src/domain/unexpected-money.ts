import { createHash } from 'node:crypto';
import { markedId } from './ids.ts';

/** The transfer on chain that brought unexpected money. */
export interface UnexpectedPlace {
  readonly network: string;
  /** The hash of the transaction on chain. If it is unknown, a text of the account and the block. */
  readonly transactionHash: string;
  readonly logIndex: number;
  readonly source: string;
}

/** The id of unexpected money. It is computed from the transfer, so every reading and every copy of the database gives the same id. */
export function unexpectedId({ network, transactionHash, logIndex, source }: UnexpectedPlace): string {
  const hash = createHash('sha256').update([network, transactionHash, logIndex, source].join(' ')).digest();
  return markedId('stry_', hash.subarray(0, 16));
}
