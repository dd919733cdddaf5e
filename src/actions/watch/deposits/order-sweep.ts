import { createHash } from 'node:crypto';
import { fullWeightOf } from '../../../chains/weight.ts';
import { isFinal } from '../../../domain/payment.ts';
import { countSweep, endLook, findOpenSweeps, lockMoney } from '../../../store/chain/deposit-money.ts';
import type { OpenDeposit } from '../../../store/chain/deposits.ts';
import { endItems, insertItems, itemOf } from '../../../store/chain/items.ts';
import { lockPayments } from '../../../store/payments/payments.ts';
import { commandOfLeader } from '../../lease.ts';
import type { WatchDeps, Watcher, WatchSettings } from '../watcher.ts';
import type { Assessment } from './assess-deposit.ts';

/** Sweeps have no deadline. Relayers send only items with one. */
const FAR_S = Date.UTC(2100, 0, 1) / 1000;

/**
 * Orders the sweep of a deposit address: an item that relayers send like any other. Two kinds of money are left at the
 * address: the money of a payment that still waits for more, and an amount that is worth less than its sweep, so that dust costs us
 * nothing. Money in a wrong token does not wait for the payment. Money with a part of a screened sender waits for a person. This is the last step of a look.
 */
export async function orderSweep(
  deps: WatchDeps,
  { lease }: Watcher,
  deposit: OpenDeposit,
  seen: Assessment,
): Promise<void> {
  const { network, asset, paymentId, isStray, item } = deposit;
  const isOrdered = await commandOfLeader(deps, lease, async (tx, at) => {
    const [payment] = await lockPayments(tx, [paymentId]);
    const row = await lockMoney(tx, deposit);
    await endLook(tx, deposit);
    if (payment === undefined || row === undefined || (!isStray && !isFinal(payment.status))) return false;
    const open = await findOpenSweeps(tx, deposit);
    const unswept = row.arrived - row.swept;
    if (unswept === 0n) {
      // A stranger has swept it. A sweep that was sent is closed when its transaction is final.
      const due = open.filter(({ state }) => state === 'due').map((each) => each.commitment);
      const ends = due.map((each) => ({ commitment: each, state: 'unpaid', reason: 'swept' }) as const);
      if (ends.length > 0) await endItems(tx, ends, at);
      return false;
    }
    const isWorth = isWorthSweep(deps.settings, deposit, unswept);
    if (open.length > 0 || seen.screened > 0n || !isWorth) return false;
    await countSweep(tx, deposit);
    const sweep = {
      commitment: sweepCommitment(deposit, row.sweeps),
      purpose: 'sweep',
      item: { ...itemOf(item), network, asset, ...(isStray && { asked: item.asset }), deadlineS: FAR_S },
      account: `${network}:${item.payer}`,
      quote: null,
      isHeld: item.isHeld,
      buyerName: item.buyerName,
      buyerIcon: item.buyerIcon,
      state: 'due',
      // The contract asks for none.
      signature: '0x',
      hasCode: false,
      resultsHash: null,
      hintedHash: null,
    } as const;
    await insertItems(tx, [sweep], at);
    return true;
  });
  if (isOrdered) deps.world.crashPoint?.('deposit.ordered');
}

/** True if so much is worth the gas of a sweep. */
export function isWorthSweep(
  settings: Pick<WatchSettings, 'sweepFrom'>,
  { network, asset }: { readonly network: string; readonly asset: string },
  units: bigint,
): boolean {
  return fullWeightOf(asset, units) >= (settings.sweepFrom?.(network) ?? 1n);
}

/** The name of the n-th sweep of this money among items. */
function sweepCommitment({ commitment, asset, isStray }: OpenDeposit, number: number): string {
  const name = `sweep ${number} ${commitment}${isStray ? ` ${asset}` : ''}`;
  return `0x${createHash('sha256').update(name).digest('hex')}`;
}
