import type { Chain } from '../../../chains/chain.ts';
import { finalityOf, isSmall } from '../../../chains/finality.ts';
import { leastPaid } from '../../../domain/deposit.ts';
import type { ItemFate } from '../../../domain/evidence.ts';
import { isFinal } from '../../../domain/payment.ts';
import type { ChainCursor } from '../../../store/chain/chain-cursors.ts';
import { sumCounting } from '../../../store/chain/deposit-progress.ts';
import { type OpenDeposit, readDeposits } from '../../../store/chain/deposits.ts';
import type { StoredItem } from '../../../store/chain/items.ts';
import { askHeights, askWitnesses, blockKey, type ReportedBlock } from '../../evidence.ts';
import type { WatchDeps, Watcher } from '../watcher.ts';
import { checkPlace } from './check-places.ts';
import { finalNumberFor } from './explain-place.ts';
import { arrivalsOf, dustLimitsOf } from './read-position.ts';

type FinalBlock = ReportedBlock & { readonly chain: Chain; readonly cursor: Pick<ChainCursor, 'finalNumber'> };

/** The last block that is final for the amount of an address. */
interface FinalForAmount extends ReportedBlock {
  readonly isAloneEnough: boolean;
}

/**
 * The outcome of a payment's deposit address at a final block. The address is open until its deadline, whatever its balance.
 * Afterwards it is `paid` if enough money has arrived: the payment's lots are computed in the same round, and that ends the payment.
 */
export async function fateOfDeposit(
  deps: WatchDeps,
  watcher: Watcher,
  stored: StoredItem,
  view: FinalBlock,
): Promise<ItemFate> {
  if (view.block.timestampS * 1000 <= stored.deadline.getTime()) return { is: 'open' };
  const [deposit] = await readDeposits(deps.db.sql, [stored.key]);
  if (deposit === undefined) return { is: 'unclear' };
  const final = await finalForAmount(deps, view, deposit);
  if (final === undefined) return { is: 'unclear' };
  if (final.block.timestampS * 1000 <= stored.deadline.getTime()) return { is: 'open' };
  // Endpoints may have omitted movements from the list, so the balance is read at this block.
  if (!(await checkBalance(deps, watcher, deposit, { chain: view.chain, final }))) return { is: 'unclear' };
  // The payment has ended already, so money at this address cannot pay it any more.
  if (isFinal(deposit.paymentStatus)) return { is: 'over', reason: 'ran_out' };
  const needed = leastPaid(BigInt(stored.amount), deps.settings.toleranceBasisPoints?.() ?? 0);
  const counted = await countedOf(deps, deposit);
  return counted < needed || counted === 0n ? { is: 'over', reason: 'ran_out' } : { is: 'paid' };
}

/**
 * The final block of the network, or a lower one if the amount needs more depth. Undefined while the endpoints do not agree on that
 * block.
 */
async function finalForAmount(
  deps: WatchDeps,
  { chain, cursor, block, isAlone }: FinalBlock,
  { item }: OpenDeposit,
): Promise<FinalForAmount | undefined> {
  const { depth, tag } = finalityOf(deps, chain.network, item);
  if (tag === undefined && depth <= (chain.network.finality?.depth ?? 1)) {
    return { block, isAlone, isAloneEnough: isSmall(deps, chain.network, item) };
  }
  const view = { heights: await askHeights(chain.reader), finalNumber: cursor.finalNumber };
  const final = await finalNumberFor(deps, { chain }, view, item);
  if (final === undefined) return undefined;
  const { finding } = await askWitnesses(chain.reader, (witness) => witness.block(final.number), blockKey);
  if (finding.is !== 'agreed' && finding.is !== 'alone') return undefined;
  return { block: finding.value, isAlone: finding.is === 'alone', isAloneEnough: final.isAloneEnough };
}

function checkBalance(
  deps: WatchDeps,
  { memory, lease }: Watcher,
  deposit: OpenDeposit,
  { chain, final }: { readonly chain: Chain; readonly final: FinalForAmount },
): Promise<boolean> {
  const { block, isAlone, isAloneEnough } = final;
  if (isAlone && !isAloneEnough) return Promise.resolve(false);
  return checkPlace(deps, { chain, memory, lease }, { place: deposit, deposit, number: block.number, isAloneEnough });
}

/** The proved money at a deposit address that counts for its payment. */
async function countedOf(
  deps: WatchDeps,
  { paymentId, network, commitment, asset, item }: OpenDeposit,
): Promise<bigint> {
  const { sql } = deps.db;
  const proved = await arrivalsOf(sql, paymentId, await dustLimitsOf(sql, deps.registry, paymentId));
  return proved
    .filter((each) => each.network === network && each.commitment === commitment && each.asset === asset)
    .filter(({ isScreened, at }) => !isScreened && at <= item.deadline)
    .reduce((sum, { amount }) => sum + BigInt(amount), 0n);
}

/**
 * True if less than the requested amount has arrived at the deposit address. Counts the money at a final block, and the known
 * transfers of later blocks. For an amount above the limit of a single endpoint, two endpoints must agree. If the network cannot be
 * read, the known transfers decide. That is safe: a lapse only returns the payment to its state before the attempt, in which the
 * address was open, too.
 */
export async function isShortAddress(
  deps: WatchDeps,
  watcher: Watcher,
  stored: StoredItem,
  view: FinalBlock | undefined,
): Promise<boolean> {
  const [deposit] = await readDeposits(deps.db.sql, [stored.key]);
  if (deposit === undefined) return false;
  const { network, commitment, asset } = deposit;
  const asked = BigInt(stored.amount);
  const ask = { network, commitment, asset, deadline: stored.deadline };
  if ((await sumCounting(deps.db.sql, ask)) >= asked) return false;
  if (view === undefined) return true;
  const final = await finalForAmount(deps, view, deposit);
  if (final === undefined || !(await checkBalance(deps, watcher, deposit, { chain: view.chain, final }))) return false;
  return (await sumCounting(deps.db.sql, ask)) < asked;
}
