import { unlessUnavailable } from '../../chains/chain-errors.ts';
import type { ChainReader } from '../../chains/chain-reader.ts';

/**
 * The slot of a mined transaction that we did not send, such as one of a payer of native coin. Null if no endpoint answers: the slot
 * is only displayed, so a payment does not wait for it.
 */
export async function slotOnChain(reader: ChainReader, hash: string): Promise<number | null> {
  const sent = await unlessUnavailable(reader.sentTransaction(hash));
  return sent?.slot ?? null;
}
