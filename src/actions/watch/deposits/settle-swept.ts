import { methodOf } from '../../../chains/assets.ts';
import { sweptEntry, unsweptEntry } from '../../../domain/deposit-entries.ts';
import { listDecidedSweeps, markDecided, type StoredEvent } from '../../../store/chain/chain-events.ts';
import { endSweepsBy, lockDeposits, putSwept, readDeposits } from '../../../store/chain/deposits.ts';
import { findItems, type StoredItem } from '../../../store/chain/items.ts';
import { holdSwept, unholdSwept } from '../../../store/money/payouts.ts';
import { findPaymentSettlement, moveSettlement } from '../../../store/payments/payment-settlements.ts';
import { lockPayments } from '../../../store/payments/payments.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { recordEntries } from '../../books/record.ts';
import { commandOfLeader } from '../../lease.ts';
import { moveHeldToFloat } from '../../outgoing/refund/release-refund.ts';
import { settlePayments } from '../../paying/move-payment.ts';
import type { KnownEvent } from '../prove-events.ts';
import type { WatchDeps, Watcher } from '../watcher.ts';

/**
 * Applies proved sweeps, of ours or of strangers: books the money where it went, and closes the items that ordered them.
 * Each is applied and marked as decided in one transaction, so never twice.
 */
export async function settleSwept(deps: WatchDeps, { network, lease }: Watcher, proved: readonly KnownEvent[]) {
  for (const { event, item } of proved) {
    if (event.type !== 'swept') continue;
    await commandOfLeader(deps, lease, async (tx, at) => {
      const [payment] = await lockPayments(tx, [item.subject]);
      const [row] = await lockDeposits(tx, [item.commitment]);
      // A sweep of another token moves nothing that is in the books.
      if (payment !== undefined && row !== undefined && event.fields.asset === item.asset) {
        const swept = sweptOf(event);
        await putSwept(tx, { commitment: item.commitment, swept: row.swept + swept.amount });
        const proof = { transaction: event.transactionHash, block: event.blockNumber };
        await recordEntries(tx, [sweptEntry(bookedItem(item, payment.merchantId), swept, proof)], at);
        const isHeld = item.isHeld && (await holdSwept(tx, heldOf(item, payment.merchantId, swept), at));
        // A payment is paid out once. What comes later is a float of the merchant, which can pay a refund.
        if (item.isHeld && !isHeld) {
          await moveHeldToFloat(tx, { payment, asset: item.asset, units: swept.amount - swept.fee }, at);
        }
      }
      await endSweepsBy(tx, { network, subject: item.subject, transaction: event.transactionHash, at });
      await markDecided(tx, network, [{ ...event, problem: null }], at);
    });
  }
}

/** A deep reorg removed final sweeps: their money is at the deposit addresses again, and is swept again. */
export async function reverseSweeps(tx: Tx, network: string, fork: number, at: Date): Promise<void> {
  const events = await listDecidedSweeps(tx, { network, above: fork });
  if (events.length === 0) return;
  const items = new Map(
    (
      await findItems(
        tx,
        events.map(({ commitment }) => commitment),
      )
    ).map((i) => [i.commitment, i]),
  );
  for (const event of events) {
    const item = items.get(event.commitment);
    if (item === undefined || event.fields.asset !== item.asset) continue;
    const [payment] = await lockPayments(tx, [item.subject]);
    const [row] = await lockDeposits(tx, [item.commitment]);
    if (payment === undefined || row === undefined) continue;
    const swept = sweptOf(event);
    await putSwept(tx, { commitment: item.commitment, swept: row.swept - swept.amount });
    await recordEntries(tx, [unsweptEntry(bookedItem(item, payment.merchantId), swept)], at);
    if (item.isHeld) await unholdSwept(tx, heldOf(item, payment.merchantId, swept), at);
  }
}

/** Notes the transfer to the merchant, once all of the asked amount is swept and final. */
export async function settleDeposit(deps: WatchDeps, { lease }: Watcher, commitment: string): Promise<void> {
  const [deposit] = await readDeposits(deps.db.sql, [commitment]);
  if (deposit === undefined) return;
  const { item, paymentId, network, asset } = deposit;
  const isPaid = deposit.paymentStatus === 'succeeded' && item.state === 'paid';
  if (!isPaid || item.isHeld || BigInt(deposit.swept) < BigInt(item.amount)) return;
  await commandOfLeader(deps, lease, async (tx, at) => {
    const events = await listDecidedSweeps(tx, { network, commitment });
    const last = events.at(-1);
    if (last === undefined) return;
    const settled = await findPaymentSettlement(tx, paymentId);
    if (settled !== undefined) {
      // A deep reorg may have removed the sweep that was the settlement.
      const isGone = events.every((event) => event.transactionHash !== settled.transactionHash);
      if (isGone) await moveSettlement(tx, { paymentId, transactionHash: last.transactionHash });
      return;
    }
    const net = events.map(sweptOf).reduce((sum, { amount, fee }) => sum + amount - fee, 0n);
    const { transactionHash } = last;
    const settlement = { paymentId, asset, amount: net.toString(), recipient: item.recipient, transactionHash, at };
    const evidence = { network, transaction: transactionHash, block: last.blockNumber };
    await settlePayments(tx, [settlement], { actor: 'watcher', evidence, at });
  });
}

function sweptOf({ fields }: StoredEvent) {
  return { amount: BigInt(fields.amount ?? '0'), fee: BigInt(fields.fee ?? '0') };
}

function bookedItem({ network, asset, subject, commitment, amount, fee, isHeld }: StoredItem, merchantId: string) {
  const terms = { amount: BigInt(amount), fee: BigInt(fee), isHeld };
  return { network, asset, subject, reference: commitment, merchantId, ...terms };
}

function heldOf(item: StoredItem, merchantId: string, { amount, fee }: { amount: bigint; fee: bigint }) {
  const { subject: paymentId, network, asset, recipient: account } = item;
  return { paymentId, merchantId, network, asset, method: methodOf(item), account, amount: (amount - fee).toString() };
}
