import { findAsset, methodOf } from '../../../chains/assets.ts';
import { sweptEntry, unsweptEntry } from '../../../domain/deposit-entries.ts';
import { listDecidedSweeps, markDecided, type StoredEvent } from '../../../store/chain/chain-events.ts';
import {
  endSweepsBy,
  lockMoney,
  type MoneyPlace,
  type MoneyRow,
  markStale,
  putOwed,
  putSwept,
} from '../../../store/chain/deposit-money.ts';
import { readDeposits } from '../../../store/chain/deposits.ts';
import { findItems, findPayingItem, type StoredItem } from '../../../store/chain/items.ts';
import { holdSwept, unholdSwept } from '../../../store/money/payouts.ts';
import { findPaymentSettlement, moveSettlement } from '../../../store/payments/payment-settlements.ts';
import { lockPayments, type Payment } from '../../../store/payments/payments.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { moveHeldToFloat } from '../../books/held-to-float.ts';
import { recordEntries } from '../../books/record.ts';
import { commandOfLeader } from '../../lease.ts';
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
    const place = placeOf(network, event, item);
    await commandOfLeader(deps, lease, async (tx, at) => {
      const [payment] = await lockPayments(tx, [item.subject]);
      if (isKnownStray(place, item)) await markStale(tx, place, at);
      const row = await lockMoney(tx, place);
      if (payment !== undefined && row !== undefined) await bookSweep(tx, { event, item, place, row, payment }, at);
      const sweep = { network, asset: place.asset, address: item.payer, subject: item.subject };
      await endSweepsBy(tx, { ...sweep, transaction: event.transactionHash, at });
      await markDecided(tx, network, [{ ...event, problem: null }], at);
    });
    deps.world.crashPoint?.('deposit.swept');
  }
}

/** The money that an event of a sweep has moved. */
function placeOf(network: string, { fields }: StoredEvent, { commitment, asset: asked }: StoredItem): MoneyPlace {
  const asset = fields.asset ?? '';
  return { commitment, network, asset, isStray: asset !== asked };
}

/**
 * True for a served token on the network of the address: a stranger may sweep it before its transfer was read. On another
 * network only money counts that an operator has searched for, and any other token is worth nothing to us.
 */
function isKnownStray({ isStray, asset, network }: MoneyPlace, item: StoredItem): boolean {
  return isStray && network === item.network && findAsset(asset)?.pay !== undefined;
}

interface Sweep {
  readonly event: StoredEvent;
  readonly item: StoredItem;
  readonly place: MoneyPlace;
  readonly row: MoneyRow;
  readonly payment: Payment;
}

async function bookSweep(tx: Tx, { event, item, place, row, payment }: Sweep, at: Date): Promise<void> {
  const swept = sweptOf(event);
  await putSwept(tx, place, row.swept + swept.amount);
  const proof = { transaction: event.transactionHash, block: event.blockNumber };
  await recordEntries(tx, [sweptEntry(bookedItem(item, place, payment.merchantId), swept, proof)], at);
  if (!item.isHeld) return;
  const net = swept.amount - swept.fee;
  const replaced = net < row.owed ? net : row.owed;
  if (replaced > 0n) await putOwed(tx, place, row.owed - replaced);
  const units = net - replaced;
  const isHeld =
    (await isPayable(tx, place, payment)) &&
    units > 0n &&
    (await holdSwept(tx, heldOf(item, payment.merchantId, units), at));
  // A payment is paid out once, as it was paid. Everything else is a float of the merchant, which can pay a refund.
  if (!isHeld) await moveHeldToFloat(tx, { payment, asset: place.asset, units }, at);
}

/** True if this money has paid the payment, or may still do so. */
async function isPayable(tx: Tx, { commitment, isStray }: MoneyPlace, payment: Payment): Promise<boolean> {
  if (isStray) return false;
  const paying = await findPayingItem(tx, payment.id);
  return paying === undefined || paying.commitment === commitment;
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
    if (item === undefined) continue;
    const place = placeOf(network, event, item);
    const [payment] = await lockPayments(tx, [item.subject]);
    const row = await lockMoney(tx, place);
    if (payment === undefined || row === undefined) continue;
    const swept = sweptOf(event);
    await putSwept(tx, place, row.swept - swept.amount);
    await recordEntries(tx, [unsweptEntry(bookedItem(item, place, payment.merchantId), swept)], at);
    if (!item.isHeld) continue;
    const net = swept.amount - swept.fee;
    const isTaken =
      (await isPayable(tx, place, payment)) && (await unholdSwept(tx, heldOf(item, payment.merchantId, net), at));
    if (!isTaken) await putOwed(tx, place, row.owed + net);
  }
}

/** Notes the transfer to the merchant, once the asked amount, or the little less that was tolerated, is swept and final. */
export async function settleDeposit(deps: WatchDeps, { lease }: Watcher, commitment: string): Promise<void> {
  const [deposit] = await readDeposits(deps.db.sql, [commitment]);
  if (deposit === undefined) return;
  const { item, paymentId, network, asset } = deposit;
  const isPaid = deposit.paymentStatus === 'succeeded' && item.state === 'paid';
  if (!isPaid || item.isHeld) return;
  const swept = BigInt(deposit.swept);
  if (swept < BigInt(item.amount) && swept < BigInt(deposit.arrived)) return;
  await commandOfLeader(deps, lease, async (tx, at) => {
    const events = await listDecidedSweeps(tx, { network, commitment, asset });
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

function bookedItem(item: StoredItem, { network, asset }: MoneyPlace, merchantId: string) {
  const { subject, commitment, amount, fee, isHeld } = item;
  const terms = { amount: BigInt(amount), fee: BigInt(fee), isHeld };
  return { network, asset, subject, reference: commitment, merchantId, ...terms };
}

function heldOf(item: StoredItem, merchantId: string, units: bigint) {
  const { subject: paymentId, network, asset, recipient: account } = item;
  return { paymentId, merchantId, network, asset, method: methodOf(item), account, amount: units.toString() };
}
