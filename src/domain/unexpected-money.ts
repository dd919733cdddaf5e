import { createHash } from 'node:crypto';
import { markedId } from './ids.ts';

/** The position of unexpected money on its chain. */
export interface UnexpectedPlace {
  readonly network: string;
  /** A text of the account and the block, if the transaction is unknown. */
  readonly transactionHash: string;
  readonly logIndex: number;
  readonly source: string;
}

/** The id follows from the position, so every reading and every copy of the database gives the same id. */
export function unexpectedId({ network, transactionHash, logIndex, source }: UnexpectedPlace): string {
  const hash = createHash('sha256').update([network, transactionHash, logIndex, source].join(' ')).digest();
  return markedId('stry_', hash.subarray(0, 16));
}
