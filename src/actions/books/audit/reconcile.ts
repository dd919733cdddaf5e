import type { ConnectedChain } from '../../../chains/chains.ts';
import type { RegistryDeps } from '../../../chains/registry.ts';
import { findCursors } from '../../../store/chain/chain-cursors.ts';
import type { WaitingKey } from '../../../store/chain/deposit-places.ts';
import { firstKnownBlock } from '../../../store/money/book-comparison.ts';
import type { Reader } from '../../../store/plumbing/database.ts';
import { ownAccounts } from '../../own-accounts.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import type { SubjectKeyDeps } from '../../subject-keys.ts';
import { coinSurpluses, intermediatePlace, ownPlaces } from '../account-surplus.ts';
import { coinShortages, compareIntermediate } from './compare-balances.ts';
import { type AddressPages, compareDeposits, compareSweeps } from './compare-deposits.ts';
import { compareEvents, type Difference, type EventsCompared } from './compare-events.ts';

export interface ReconcileReport extends EventsCompared {
  readonly network: string;
  readonly from: number;
  readonly to: number;
  /** One sentence for each part that was not compared because the chain's answer is unreadable. All other parts were compared. */
  readonly unreadable: readonly string[];
  /** True if the balance of a compared deposit address differs from the books. */
  readonly hasAddressDifference: boolean;
  /** The last deposit address that was compared. Undefined if no address is left. */
  readonly lastAddress: WaitingKey | undefined;
}

interface ReconcileInput {
  readonly from?: number | undefined;
  readonly maxBlocks?: number;
  readonly addresses?: AddressPages;
}

/** The number of blocks in one request. Providers refuse larger ranges, and a failed request is cheap to repeat. */
const RANGE = 500;

/**
 * Compares the books with a chain, up to the last final block: every event of our contracts from the given block on, the money at
 * deposit addresses, and the balances of the intermediate account and the relayers. Undefined if the chain was never read.
 */
export async function reconcile(
  {
    db,
    registry,
    subjectKeys,
    rowKeys,
  }: { readonly db: { readonly sql: Reader } } & RegistryDeps & SubjectKeyDeps & RowKeyDeps,
  connected: ConnectedChain,
  { from: asked, maxBlocks, addresses = {} }: ReconcileInput = {},
): Promise<ReconcileReport | undefined> {
  const { chain } = connected;
  const network = chain.network.chainId;
  const cursor = (await findCursors(db.sql)).find((each) => each.network === network);
  if (cursor === undefined) return undefined;
  const final = cursor.finalNumber;
  const from = Math.min(asked ?? (await firstKnownBlock(db.sql, network)) ?? final, final);
  const to = maxBlocks === undefined ? final : Math.min(from + maxBlocks - 1, final);
  const total = { events: 0, foreign: 0, waiting: 0 };
  const differences: Difference[] = [];
  const own = await ownAccounts({ db, rowKeys }, connected);
  const places = await ownPlaces({ db, rowKeys }, connected);
  const place = await intermediatePlace({ db, rowKeys }, connected);
  const intermediates = place.accounts;
  const unreadable: string[] = [];
  for (let start = from; start <= to; start += RANGE) {
    const range = { from: start, to: Math.min(start + RANGE - 1, to) };
    const compared = await compareEvents({ db, registry, subjectKeys }, { chain, intermediates, own, ...range });
    total.events += compared.events;
    total.foreign += compared.foreign;
    total.waiting += compared.waiting;
    differences.push(...compared.differences, ...(await compareSweeps(db.sql, registry, { chain, ...range })));
    unreadable.push(...compared.unreadable);
  }
  const balances = await compareIntermediate(db.sql, registry, connected, { place, block: final });
  const deposits = await compareDeposits(db.sql, registry, { chain, block: final }, addresses);
  differences.push(...balances.differences, ...deposits.differences);
  unreadable.push(...balances.unreadable);
  differences.push(...coinShortages(registry, network, await coinSurpluses(db.sql, connected, final, places), final));
  return {
    network,
    from,
    to,
    ...total,
    differences,
    unreadable,
    hasAddressDifference: deposits.differences.length > 0,
    lastAddress: deposits.last,
  };
}
