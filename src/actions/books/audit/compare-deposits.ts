import { amountText, tokenText } from '../../../chains/amount-text.ts';
import type { Chain } from '../../../chains/chain.ts';
import type { ChainEvent } from '../../../chains/chain-reader.ts';
import type { Registry } from '../../../chains/registry.ts';
import { listSweepsInBlocks } from '../../../store/chain/chain-events.ts';
import {
  findPlacePayments,
  listWaitingAt,
  type WaitingKey,
  type WaitingMoney,
} from '../../../store/chain/deposit-places.ts';
import type { Reader } from '../../../store/plumbing/database.ts';
import type { Difference } from './compare-events.ts';

type SweptEvent = Extract<ChainEvent, { type: 'swept' }>;

/**
 * Compares the sweeps that the chain shows in some blocks with the stored sweeps, in both directions. Sweeps of unknown addresses are
 * not ours. Stored sweeps that are not decided yet are left to the watcher.
 */
export async function compareSweeps(
  db: Reader,
  registry: Registry,
  { chain, from, to }: { readonly chain: Chain; readonly from: number; readonly to: number },
): Promise<Difference[]> {
  const network = chain.network.chainId;
  const reported = (await chain.reader.events(from, to)).filter((event): event is SweptEvent => event.type === 'swept');
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

/** The deposit addresses to compare. By default all of them, from the newest one on. */
export interface AddressPages {
  /** The last address and asset that an earlier call compared. */
  readonly after?: WaitingKey | undefined;
  readonly maxPages?: number;
  readonly pageSize?: number;
}

interface ComparedDeposits {
  readonly differences: readonly Difference[];
  /** The last address and asset that was compared. Undefined if none is left. */
  readonly last: WaitingKey | undefined;
}

/**
 * Compares the money at deposit addresses with the lots, at a final block, page by page. Skips addresses whose money is moving. A
 * difference does not stop the comparison, so all later addresses are compared, too.
 */
export async function compareDeposits(
  db: Reader,
  registry: Registry,
  { chain, block }: { readonly chain: Chain; readonly block: number },
  { after, maxPages, pageSize = PAGE }: AddressPages,
): Promise<ComparedDeposits> {
  const differing = async ({ address, asset, paymentId, waiting }: WaitingMoney): Promise<Difference[]> => {
    const held = await chain.reader.holding(address, asset, block);
    if (held === BigInt(waiting)) return [];
    const message = `The deposit address ${address} of ${paymentId} holds ${amountText(registry, asset, held)}; by the books it should be ${tokenText(registry, asset, waiting)}.`;
    return [{ subject: paymentId, block, transaction: null, message }];
  };
  const differences: Difference[] = [];
  let last = after;
  for (let page = 0; maxPages === undefined || page < maxPages; page += 1) {
    const rows = await listWaitingAt(db, { network: chain.network.chainId, after: last, limit: pageSize });
    differences.push(...(await Promise.all(rows.map(differing))).flat());
    const end = rows.at(-1);
    if (end === undefined || rows.length < pageSize) return { differences, last: undefined };
    last = { number: end.number, asset: end.asset };
  }
  return { differences, last };
}

/** The number of addresses whose balances are read at the same time. */
const PAGE = 500;
