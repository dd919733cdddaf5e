import { coinOf, type Registry } from '../../chains/registry.ts';
import { ACCOUNTS, gasEntry } from '../../domain/books.ts';
import { positionsOf } from '../../store/money/books.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { recordEntries } from './record.ts';

export interface SpentGas {
  readonly signer: string;
  /** The mined transaction; null if it was not ours. */
  readonly hash: string | null;
  /** Every transaction signed for the slot. */
  readonly hashes: readonly string[];
  readonly coinSpent: bigint;
  readonly block: number;
}

/**
 * Books the gas of final transactions, as the difference to the gas booked before: after a reorg deeper than the final depth the
 * same transaction may have another cost, or another transaction of its slot was mined.
 */
export async function recordGas(
  tx: Tx,
  registry: Registry,
  network: string,
  spent: readonly SpentGas[],
  at: Date,
): Promise<void> {
  const positions = await positionsOf(
    tx,
    spent.flatMap(({ hashes }) => hashes),
  );
  const entries = spent.flatMap(({ signer, hash, hashes, coinSpent, block }) =>
    hashes.flatMap((transaction) => {
      const account = ACCOUNTS.gas(signer);
      const booked = positions.get(transaction)?.find((line) => line.account === account)?.units ?? 0n;
      const missing = (transaction === hash ? coinSpent : 0n) - booked;
      const relayer = { network, asset: coinOf(registry, network), signer };
      return missing === 0n ? [] : [gasEntry(relayer, missing, { transaction, block })];
    }),
  );
  await recordEntries(tx, entries, at);
}
