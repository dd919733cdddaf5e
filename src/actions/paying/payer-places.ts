import type { Item } from '../../domain/item.ts';
import { findUnderWay, type UnderWay } from '../../store/chain/due-items.ts';
import type { NewItem } from '../../store/chain/items.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { lockNames } from '../../store/plumbing/locks.ts';

export interface PayerLimits {
  /** The maximum number of open items of one payer on one network; no limit if undefined. */
  readonly openItemsPerPayer?: number;
}

/** The part of a move that counts against the limits of payers. */
interface Acceptance {
  readonly items?: { readonly accepted?: readonly NewItem[] };
  readonly balance?: bigint | undefined;
}

/**
 * Reads the number of open items and the amounts under way of each payer. Database transactions that accept items of the same payer run
 * one after the other, so that concurrent requests cannot exceed a limit together.
 */
export async function readPlaces(
  tx: Tx,
  inputs: readonly Acceptance[],
  { openItemsPerPayer: limit = Number.POSITIVE_INFINITY }: PayerLimits,
  now: Date,
) {
  const payers = [...new Set(inputs.flatMap(acceptedOf).map(({ item }) => payerOf(item)))].sort();
  if (payers.length > 0) await lockNames(tx, payers);
  const stored = payers.length === 0 ? new Map<string, UnderWay>() : await findUnderWay(tx, payers, now);
  const counts = new Map([...stored].map(([payer, { count }]) => [payer, count]));
  const amounts = new Map<string, bigint>(
    [...stored].flatMap(([payer, own]) => [...own.amounts].map(([asset, sum]) => [`${payer} ${asset}`, sum] as const)),
  );
  return {
    /** Counts each item of a move against the limits. Returns the limit that would be exceeded, or undefined. */
    take(input: Acceptance): 'payer_busy' | 'balance_under_way' | undefined {
      for (const { item } of acceptedOf(input)) {
        const payer = payerOf(item);
        const purse = `${payer} ${item.asset}`;
        const count = (counts.get(payer) ?? 0) + 1;
        const amount = (amounts.get(purse) ?? 0n) + item.amount;
        if (count > limit) return 'payer_busy';
        if (input.balance !== undefined && amount > input.balance) return 'balance_under_way';
        counts.set(payer, count);
        amounts.set(purse, amount);
      }
      return undefined;
    },
  };
}

function acceptedOf({ items }: Acceptance): readonly NewItem[] {
  return items?.accepted ?? [];
}

/** The payer of an item, in the form of CAIP-10. */
export const payerOf = ({ network, payer }: Pick<Item, 'network' | 'payer'>) => `${network}:${payer}`;
