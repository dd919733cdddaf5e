import type { Chain } from '../../../chains/chain.ts';
import { isSmall } from '../../../chains/finality.ts';
import { leastPaid } from '../../../domain/deposit.ts';
import type { ItemFate } from '../../../domain/evidence.ts';
import { isFinal } from '../../../domain/payment.ts';
import { markStale } from '../../../store/chain/deposit-money.ts';
import { sumDepositTransfers } from '../../../store/chain/deposit-transfers.ts';
import { readDeposits } from '../../../store/chain/deposits.ts';
import type { StoredItem } from '../../../store/chain/items.ts';
import type { HeardBlock } from '../../evidence.ts';
import { commandOfLeader } from '../../lease.ts';
import type { WatchDeps, Watcher } from '../watcher.ts';
import { assessAt } from './assess-deposit.ts';

/**
 * The outcome of a payment's deposit address at a final block. It is open until its deadline, whatever lies there. Enough
 * money makes it paid: the watcher of its network looks at it once more, and ends the payment.
 */
export async function fateOfDeposit(
  deps: WatchDeps,
  { memory, lease }: Watcher,
  stored: StoredItem,
  { chain, block, isAlone }: HeardBlock & { readonly chain: Chain },
): Promise<ItemFate> {
  if (block.timestampS * 1000 <= stored.deadline.getTime()) return { is: 'open' };
  const [deposit] = await readDeposits(deps.db.sql, [stored.commitment]);
  if (deposit === undefined) return { is: 'unclear' };
  const assessed = await assessAt(deps.db.sql, chain, deposit, block.number);
  if (assessed.is === 'disputed') memory.disputes.set('endings', assessed.said);
  if (assessed.is !== 'known') return { is: 'unclear' };
  // Endpoints may have left out transfers. What lies there is looked at once more, and is then named and swept.
  if (assessed.arrived !== BigInt(deposit.arrived)) {
    await commandOfLeader(deps, lease, (tx, at) => markStale(tx, deposit, at));
  }
  // The payment has ended without it.
  if (isFinal(deposit.paymentStatus)) return { is: 'over', reason: 'ran_out' };
  const isOfOne = isAlone || assessed.isAlone;
  if (isOfOne && !isSmall(chain.network, stored)) return { is: 'unclear' };
  const needed = leastPaid(BigInt(stored.amount), deps.settings.toleranceBasisPoints?.() ?? 0);
  if (assessed.counted < needed) return { is: 'over', reason: 'ran_out' };
  await commandOfLeader(deps, lease, (tx, at) => markStale(tx, deposit, at));
  return { is: 'paid' };
}

/**
 * True if less than the asked amount has arrived at the deposit address by a final block, and by the transfers that are known
 * in later blocks. For a larger amount two endpoints must say so. On a network that cannot be read, the known transfers
 * decide: the payment was open beside that address before its attempt, too.
 */
export async function isShortAddress(
  deps: WatchDeps,
  stored: StoredItem,
  view: (HeardBlock & { readonly chain: Chain }) | undefined,
): Promise<boolean> {
  const { commitment, asset, deadline } = stored;
  const [deposit] = await readDeposits(deps.db.sql, [commitment]);
  if (deposit === undefined) return false;
  const asked = BigInt(stored.amount);
  const known = { commitment, asset, deadline, upTo: Number.MAX_SAFE_INTEGER };
  if ((await sumDepositTransfers(deps.db.sql, known)).counted >= asked) return false;
  if (view === undefined) return true;
  const { chain, block, isAlone } = view;
  const assessed = await assessAt(deps.db.sql, chain, deposit, block.number);
  if (assessed.is !== 'known' || assessed.counted >= asked) return false;
  return !(isAlone || assessed.isAlone) || isSmall(chain.network, stored);
}
