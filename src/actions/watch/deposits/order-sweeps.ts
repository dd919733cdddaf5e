import { createHash } from 'node:crypto';
import { noSignature, spellBytes } from '../../../domain/addresses/families.ts';
import { type ItemKey, itemKeyOf } from '../../../domain/item.ts';
import type { Sweep } from '../../../domain/money/money-out.ts';
import type { Lot } from '../../../domain/money/terms.ts';
import { listSweepsOf } from '../../../store/chain/deposit-places.ts';
import { endItems, insertItems, itemOf, type StoredItem } from '../../../store/chain/items.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import type { PositionFacts } from './read-position.ts';

/** The deadline of sweeps. They need none, but relayers send only items with a deadline. */
const FAR_S = Date.UTC(2100, 0, 1) / 1000;

interface Orders {
  readonly known: PositionFacts;
  readonly lots: readonly Lot[];
  readonly sweeps: readonly Sweep[];
}

/**
 * Stores sweeps as items, which relayers send like all other items. Ends a due sweep that would find no money, because a stranger has
 * swept the address or a reorganisation has removed the money.
 */
export async function orderSweeps(tx: Tx, { known, lots, sweeps }: Orders, at: Date): Promise<void> {
  // Only deposit addresses are swept.
  if (known.deposits.length === 0) return;
  const ordered = await listSweepsOf(tx, known.terms.payment);
  const waiting = new Set(lots.filter((lot) => lot.waiting > 0n).map(placeOf));
  const arrived = new Set(lots.map(placeOf));
  // Only due sweeps end here. A sent sweep is closed when its transaction is final.
  const ends = ordered
    .filter((sweep) => sweep.state === 'due' && !waiting.has(placeOf(sweep)))
    .map((sweep) => {
      const reason = arrived.has(placeOf(sweep)) ? 'swept' : 'removed';
      return { key: sweep.key, state: 'unpaid', reason } as const;
    });
  if (ends.length > 0) await endItems(tx, ends, at);
  const wanted = new Map(sweeps.map((sweep) => [placeOf(sweep), sweep]));
  for (const [place, { network, asset, commitment }] of wanted) {
    const earlier = ordered.filter((sweep) => placeOf(sweep) === place);
    const isOpen = earlier.some(({ state }) => state === 'due' || state === 'sent');
    if (isOpen) continue;
    const same = known.deposits.filter((each) => each.commitment === commitment);
    const deposit = same.find((each) => each.network === network) ?? same[0];
    if (deposit === undefined) continue;
    const { item } = deposit;
    const isAsked = item.asset === asset;
    const sweep = {
      key: sweepKey(item, { network, number: earlier.length, asset: isAsked ? undefined : asset }),
      purpose: 'sweep',
      item: { ...itemOf(item), network, asset, ...(!isAsked && { asked: item.asset }), deadlineS: FAR_S },
      account: `${network}:${item.payer}`,
      quote: null,
      isHeld: item.isHeld,
      // Only the payment's own item stores the wallet's name, because a name has to be erased wherever it is stored.
      buyerName: '',
      buyerIcon: null,
      state: 'due',
      // The Collector requires no signature for a sweep.
      signature: noSignature(network),
      hasCode: false,
      resultsHash: null,
      hintedHash: null,
    } as const;
    await insertItems(tx, [sweep], at);
  }
}

/** The map key of one asset at one deposit address on one network. */
function placeOf({ network, asset, address }: Pick<Lot, 'network' | 'asset' | 'address'>): string {
  return `${network} ${asset} ${address}`;
}

/**
 * The item key of the n-th sweep of an asset at an address. All sweeps of an address have the same commitment on chain, so the key is
 * made from a hash of our own.
 */
function sweepKey(
  { key }: StoredItem,
  { network, number, asset }: { network: string; number: number; asset: string | undefined },
): ItemKey {
  const name = `sweep ${number} ${key}${asset === undefined ? '' : ` ${asset}`}`;
  const digest = createHash('sha256').update(name).digest('hex');
  return itemKeyOf({ network, commitment: spellBytes(network, digest) });
}
