import { amountText, tokenText } from '../../../chains/amount-text.ts';
import type { Chain, ChainEvent } from '../../../chains/chain.ts';
import type { Registry } from '../../../chains/registry.ts';
import { listSweepsInBlocks } from '../../../store/chain/chain-events.ts';
import { findPlacePayments, listWaitingAt } from '../../../store/chain/deposit-places.ts';
import type { Reader } from '../../../store/plumbing/database.ts';
import type { Difference } from './compare-events.ts';

type SweptEvent = Extract<ChainEvent, { type: 'swept' }>;

/**
 * Compares the sweeps of some blocks with the sweeps that positions are computed from, both ways. Sweeps of unknown addresses are
 * not ours. The watcher handles sweeps that are not decided yet.
 */
export async function compareSweeps(
  db: Reader,
  registry: Registry,
  { chain, from, to }: { readonly chain: Chain; readonly from: number; readonly to: number },
): Promise<Difference[]> {
  const network = chain.network.chainId;
  const reported = (await chain.events(from, to)).filter((event): event is SweptEvent => event.type === 'swept');
  const stored = await listSweepsInBlocks(db, { network, from, to });
  const commitments = [...reported, ...stored].map(({ commitment }) => commitment);
  const payments = await findPlacePayments(db, { network, commitments: [...new Set(commitments)] });
  const keyOf = ({ transactionHash, logIndex }: { transactionHash: string; logIndex: number }) =>
    `${transactionHash} ${logIndex}`;
  const known = new Map(stored.map((event) => [keyOf(event), event]));
  const shown = new Set(reported.map(keyOf));
  const differing = (commitment: string, transaction: string, message: string): Difference[] => {
    const subject = payments.get(commitment);
    return subject === undefined ? [] : [{ subject, block: null, transaction, message: `${subject} ${message}` }];
  };
  const unread = reported.flatMap(({ commitment, transactionHash, logIndex, asset, amount, fee }) => {
    const event = known.get(keyOf({ transactionHash, logIndex }));
    const isSame = event?.fields.amount === amount.toString() && event.fields.fee === fee.toString();
    if (isSame) return [];
    return differing(
      commitment,
      transactionHash,
      `was swept on chain by ${amountText(registry, asset, amount)}, and the gateway does not know it.`,
    );
  });
  const unshown = stored.flatMap((event) => {
    if (!event.isDecided || shown.has(keyOf(event))) return [];
    const text = amountText(registry, event.fields.asset ?? '', event.fields.amount ?? '0');
    return differing(event.commitment, event.transactionHash, `was swept by ${text} in the books, and not on chain.`);
  });
  return [...unread, ...unshown];
}

/** Compares the money at deposit addresses with the lots, at a final block. Skips addresses whose money is moving. */
export async function compareDeposits(
  db: Reader,
  registry: Registry,
  chain: Chain,
  block: number,
): Promise<Difference[]> {
  const rows = await listWaitingAt(db, { network: chain.network.chainId, limit: MAX_COMPARED });
  const found = await Promise.all(
    rows.map(async ({ address, asset, paymentId, waiting }): Promise<Difference[]> => {
      const held = await chain.holding(address, asset, block);
      if (held === BigInt(waiting)) return [];
      const message = `The deposit address ${address} of ${paymentId} holds ${amountText(registry, asset, held)}; by the books it should be ${tokenText(registry, asset, waiting)}.`;
      return [{ subject: paymentId, block, transaction: null, message }];
    }),
  );
  return found.flat();
}

const MAX_COMPARED = 1_000;
