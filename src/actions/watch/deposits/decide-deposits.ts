import { amountText } from '../../../chains/amount-text.ts';
import { leastPaid } from '../../../domain/deposit.ts';
import { depositedEntry } from '../../../domain/deposit-entries.ts';
import type { PaymentEvent } from '../../../domain/payment.ts';
import { isFinal } from '../../../domain/payment.ts';
import { listDecidedSweeps } from '../../../store/chain/chain-events.ts';
import {
  type DepositTransfer,
  listDepositTransfers,
  sumDepositTransfers,
} from '../../../store/chain/deposit-transfers.ts';
import {
  listStaleDeposits,
  lockDeposits,
  type OpenDeposit,
  putArrived,
  putTold,
} from '../../../store/chain/deposits.ts';
import { findItems } from '../../../store/chain/items.ts';
import { lockPayments } from '../../../store/payments/payments.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { recordEntries } from '../../books/record.ts';
import { commandOfLeader } from '../../lease.ts';
import { notePayments } from '../../paying/move-payment.ts';
import { isItsOwnFault, type View, type WatchDeps, type Watcher } from '../watcher.ts';
import { type Assessment, assessDeposit } from './assess-deposit.ts';
import { orderSweep } from './order-sweep.ts';
import { settleDeposit } from './settle-swept.ts';

const MAX_DEPOSITS = 500;
/** More transfers than these are summed, and not named one by one. */
const MAX_NAMED = 50;

/**
 * Looks at deposit addresses whose money has moved. A payment is `processing` as soon as enough is in a block, and
 * `succeeded` when enough is final. Everything else that arrived is named to the partner. Then the money is swept.
 */
export async function decideDeposits(deps: WatchDeps, watcher: Watcher, view: View): Promise<void> {
  watcher.memory.disputes.delete('deposits');
  const stale = await listStaleDeposits(deps.db.sql, { network: watcher.network, limit: MAX_DEPOSITS });
  await Promise.all(
    stale.map((deposit) =>
      decideDeposit(deps, watcher, view, deposit).catch((error: unknown) => {
        if (!isItsOwnFault(error)) throw error;
        deps.log.error({ payment: deposit.paymentId, err: error }, 'a deposit address cannot be judged');
      }),
    ),
  );
}

async function decideDeposit(deps: WatchDeps, watcher: Watcher, view: View, deposit: OpenDeposit): Promise<void> {
  if (deposit.paymentStatus === 'requires_action') await notice(deps, watcher, deposit);
  const seen = await assessDeposit(deps, watcher, view, deposit);
  if (seen === undefined) return;
  await record(deps, watcher, deposit, seen);
  if (isEnough(deps, deposit, seen)) await payByDeposit(deps, watcher, deposit, seen);
  await settleDeposit(deps, watcher, deposit.commitment);
  await tellExtra(deps, watcher, deposit, seen);
  await orderSweep(deps, watcher, deposit, seen);
}

/** A little less than asked pays as well, by the operator's tolerance, when nothing more can come in time. */
function isEnough({ settings }: WatchDeps, { item }: OpenDeposit, { counted, atMs }: Assessment): boolean {
  const asked = BigInt(item.amount);
  const isOver = atMs > item.deadline.getTime();
  return counted >= (isOver ? leastPaid(asked, settings.toleranceBasisPoints?.() ?? 0) : asked);
}

/** Moves the payment to `processing` when blocks of any depth hold enough. */
async function notice(deps: WatchDeps, { network, lease }: Watcher, deposit: OpenDeposit): Promise<void> {
  const { commitment, asset, item, paymentId } = deposit;
  const ask = { commitment, asset, deadline: item.deadline, upTo: Number.MAX_SAFE_INTEGER };
  const { counted } = await sumDepositTransfers(deps.db.sql, ask);
  if (counted < BigInt(item.amount)) return;
  const transfers = await listDepositTransfers(deps.db.sql, { commitment, limit: MAX_NAMED });
  const evidence = { network, commitment, transfers: transfers.map(evidenceOf) };
  await deps.movePayment({ paymentId, event: confirmedBy(deposit, transfers), actor: 'watcher', evidence, lease });
}

/** The sender of the last transfer that counts is the buyer. It may be an exchange. */
function buyerOf({ network, asset, item, address }: OpenDeposit, transfers: readonly DepositTransfer[]) {
  const last = transfers.findLast((transfer) => isCounted(transfer, { asset, item }));
  return { account: `${network}:${last?.sender ?? address}`, name: item.buyerName, icon: item.buyerIcon };
}

function confirmedBy(deposit: OpenDeposit, transfers: readonly DepositTransfer[]): PaymentEvent {
  const token = { asset: deposit.asset, value: BigInt(deposit.item.amount) };
  return { type: 'confirmed', buyer: buyerOf(deposit, transfers), token, isNative: true };
}

function isCounted(transfer: DepositTransfer, { asset, item }: Pick<OpenDeposit, 'asset' | 'item'>): boolean {
  return !transfer.isScreened && transfer.asset === asset && transfer.at <= item.deadline;
}

/** The money that has arrived since the last look is booked. */
async function record(deps: WatchDeps, { lease }: Watcher, deposit: OpenDeposit, seen: Assessment): Promise<void> {
  const { commitment, paymentId } = deposit;
  await commandOfLeader(deps, lease, async (tx, at) => {
    await lockPayments(tx, [paymentId]);
    const [row] = await lockDeposits(tx, [commitment]);
    if (row === undefined) return;
    const units = seen.arrived - row.arrived;
    if (units !== 0n) await recordEntries(tx, [depositedEntry(subjectOf(deposit), units, seen.block)], at);
    await putArrived(tx, { commitment, arrived: seen.arrived, block: seen.block });
  });
}

function subjectOf({ network, asset, paymentId, commitment, merchantId }: OpenDeposit) {
  return { network, asset, subject: paymentId, reference: commitment, merchantId };
}

/** Ends the payment as succeeded: enough has arrived, in time and at final depth. */
async function payByDeposit(
  deps: WatchDeps,
  { network, lease }: Watcher,
  deposit: OpenDeposit,
  seen: Assessment,
): Promise<void> {
  const { commitment, paymentId, item, asset } = deposit;
  if (item.state === 'paid' || isFinal(deposit.paymentStatus)) return;
  const transfers = await listDepositTransfers(deps.db.sql, { commitment, limit: MAX_NAMED });
  const last = transfers.findLast((transfer) => isCounted(transfer, deposit) && transfer.blockNumber <= seen.block);
  // Without a transfer, after a rebuild or a lost log, the sweep shows where the money came from.
  const [sweep] = last === undefined ? await listDecidedSweeps(deps.db.sql, { network, commitment }) : [];
  const evidence = {
    network,
    commitment,
    block: seen.block,
    blockHash: seen.blockHash,
    arrived: seen.arrived.toString(),
    counted: seen.counted.toString(),
    ...(seen.arrived > BigInt(item.amount) && { overpaid: (seen.arrived - BigInt(item.amount)).toString() }),
    transfers: transfers.map(evidenceOf),
  };
  const move = { paymentId, actor: 'watcher', evidence, lease };
  // After a crash between the two moves the next round continues with the second one.
  await deps.movePayment({ ...move, event: confirmedBy(deposit, transfers) });
  const proof = last && { transaction: last.transactionHash, block: last.blockNumber };
  await deps.movePayment({
    ...move,
    event: {
      type: 'succeeded',
      buyer: buyerOf(deposit, transfers),
      token: { asset, value: BigInt(item.amount) },
      transaction: { hash: last?.transactionHash ?? sweep?.transactionHash ?? '', nonce: null },
    },
    items: { ended: [{ commitment, state: 'paid', reason: null, ...(proof && { proof }) }] },
  });
}

function evidenceOf({ transactionHash, logIndex, blockNumber, sender, amount, isScreened }: DepositTransfer) {
  return {
    transaction: transactionHash,
    logIndex,
    block: blockNumber,
    sender,
    amount,
    ...(isScreened && { isScreened }),
  };
}

/** Names money to the partner that the payment did not need: too much, too late, or for a payment that was over. */
async function tellExtra(deps: WatchDeps, { lease }: Watcher, deposit: OpenDeposit, seen: Assessment): Promise<void> {
  const { commitment, paymentId, asset } = deposit;
  await commandOfLeader(deps, lease, async (tx, at) => {
    const [payment] = await lockPayments(tx, [paymentId]);
    if (payment === undefined || !isFinal(payment.status)) return;
    const [row] = await lockDeposits(tx, [commitment]);
    const needed = (await isPaidBy(tx, commitment)) ? BigInt(deposit.item.amount) : 0n;
    const extra = seen.arrived - needed;
    if (row === undefined || extra <= row.told) return;
    await putTold(tx, { commitment, told: extra });
    const evidence = {
      commitment,
      block: seen.block,
      asset,
      amount: (extra - row.told).toString(),
      total: extra.toString(),
      text: amountText(asset, extra - row.told),
    };
    await notePayments(tx, [paymentId], { type: 'payment.late_money', actor: 'watcher', evidence }, at);
  });
}

async function isPaidBy(tx: Tx, commitment: string): Promise<boolean> {
  const [item] = await findItems(tx, [commitment]);
  return item?.state === 'paid';
}
