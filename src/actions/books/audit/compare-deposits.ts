import { amountText, tokenText } from '../../../chains/amount-text.ts';
import type { Chain, ChainEvent } from '../../../chains/chain.ts';
import { ACCOUNTS } from '../../../domain/books.ts';
import { listStraysOf } from '../../../store/chain/deposit-money.ts';
import { listUnsweptDeposits } from '../../../store/chain/deposits.ts';
import { findItems } from '../../../store/chain/items.ts';
import { findReverted } from '../../../store/money/book-comparison.ts';
import { listEntriesInBlocks } from '../../../store/money/books.ts';
import type { Reader } from '../../../store/plumbing/database.ts';
import type { Difference } from './compare-events.ts';

type SweptEvent = Extract<ChainEvent, { type: 'swept' }>;

/**
 * Compares the sweeps of some blocks with the books, both ways. Sweeps of unknown addresses are not ours, and neither are those
 * of tokens that the gateway does not know at the address.
 */
export async function compareSweeps(
  db: Reader,
  { chain, from, to }: { readonly chain: Chain; readonly from: number; readonly to: number },
): Promise<Difference[]> {
  const network = chain.network.chainId;
  const told = (await chain.events(from, to)).filter((event): event is SweptEvent => event.type === 'swept');
  const items = await findItems(db, [...new Set(told.map(({ commitment }) => commitment))]);
  const known = new Map(items.map((item) => [item.commitment, item]));
  const strays = await listStraysOf(db, { network, commitments: [...known.keys()] });
  const isKnown = new Set(strays.map(({ commitment, asset }) => `${commitment} ${asset}`));
  const ours = told.filter(
    ({ commitment, asset }) => known.get(commitment)?.asset === asset || isKnown.has(`${commitment} ${asset}`),
  );
  const booked = await listEntriesInBlocks(db, { network, kinds: ['swept'], from, to });
  const gone = await findReverted(
    db,
    booked.map(({ reference }) => reference),
  );
  const amounts = new Map<string, bigint>();
  const add = (key: string, units: bigint) => amounts.set(key, (amounts.get(key) ?? 0n) + units);
  for (const { commitment, asset, transactionHash, amount } of ours) {
    add(`${commitment} ${asset} ${transactionHash}`, amount);
  }
  for (const { reference, asset, transaction, lines } of booked) {
    const left = lines.find(({ account }) => account === ACCOUNTS.deposits)?.units ?? 0n;
    if (!gone.has(reference)) add(`${reference} ${asset} ${transaction}`, left);
  }
  return [...amounts].flatMap(([key, units]): Difference[] => {
    const [commitment = '', asset = '', transaction = ''] = key.split(' ');
    if (units === 0n || gone.has(commitment)) return [];
    const entry = booked.find(({ reference }) => reference === commitment);
    const subject = known.get(commitment)?.subject ?? entry?.subject ?? commitment;
    const text = amountText(asset, units < 0n ? -units : units);
    const message =
      units > 0n
        ? `was swept on chain by ${text} more than is booked.`
        : `has ${text} more in the books than was swept on chain.`;
    return [{ subject, block: null, transaction, message: `${subject} ${message}` }];
  });
}

/** Compares the money at deposit addresses with the books, at a final block. Addresses whose money is moving are left out. */
export async function compareDeposits(db: Reader, chain: Chain, block: number): Promise<Difference[]> {
  const rows = await listUnsweptDeposits(db, { network: chain.network.chainId, limit: MAX_COMPARED });
  const found = await Promise.all(
    rows.map(async ({ address, asset, paymentId, unswept }): Promise<Difference[]> => {
      const held = await chain.holding(address, asset, block);
      if (held === BigInt(unswept)) return [];
      const message = `The deposit address ${address} of ${paymentId} holds ${amountText(asset, held)}; by the books it should be ${tokenText(asset, unswept)}.`;
      return [{ subject: paymentId, block, transaction: null, message }];
    }),
  );
  return found.flat();
}

const MAX_COMPARED = 1_000;
