import { differences } from '../../domain/evidence.ts';
import type { PaymentStatus } from '../../domain/payment.ts';
import { type DecidedEvent, findPaidEvent, markDecided, type StoredEvent } from '../../store/chain/chain-events.ts';
import { findItemsOf, type StoredItem } from '../../store/chain/items.ts';
import { holdItems } from '../../store/money/lots.ts';
import { markPositionsOutdated, touchPositions } from '../../store/money/positions.ts';
import { moveSettlement } from '../../store/payments/payment-settlements.ts';
import { lockPayments } from '../../store/payments/payments.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import type { Lease } from '../../store/plumbing/leases.ts';
import { clearAlert, raiseAlert } from '../alerts.ts';
import { closeItems } from '../books/record.ts';
import { commandOfLeader } from '../lease.ts';
import { lateAlert, recordLateMoney } from '../outgoing/return/record-late-money.ts';
import { confirmedByCoin } from '../paying/confirmed-by-coin.ts';
import { notePayments } from '../paying/note-payments.ts';
import { screenPaid } from '../paying/screen-paid.ts';
import type { WatchDeps } from './watcher.ts';

export interface PaidInput {
  readonly network: string;
  readonly lease: Lease;
  readonly event: StoredEvent;
  readonly item: StoredItem;
  /** The slot of the mined transaction; null if it could not be read. */
  readonly slot: number | null;
  /** The status of the payment at the last read. */
  readonly status: PaymentStatus | undefined;
}

interface Settled {
  /** The reason why the event is not credible; null if it was applied. */
  readonly problem: string | null;
  /** True if the event is already marked as decided. */
  readonly isDecided: boolean;
}

const SETTLED: Settled = { problem: null, isDecided: true };

/**
 * Applies a paid event of a payment at final depth. The database transaction that ends the item also marks the event as decided. The
 * payment's lots are computed from decided events alone, so an event that is marked later would be missing in a computation in
 * between.
 */
export async function settlePaid(deps: WatchDeps, input: PaidInput): Promise<Settled> {
  const { network, lease, event, item, slot, status } = input;
  const differing = differences(event.fields, item);
  if (differing.length > 0) return { problem: `it differs from its item in ${differing.join(', ')}`, isDecided: false };
  if (status === undefined) return { problem: 'its payment does not exist', isDecided: false };
  if (item.state === 'paid') {
    await noteSecond(deps, input);
    return SETTLED;
  }
  const { key, commitment, subject } = item;
  const evidence = {
    network,
    commitment,
    transaction: event.transactionHash,
    block: event.blockNumber,
    blockHash: event.blockHash,
    logIndex: event.logIndex,
    ...(await screenPaid(deps, { paymentId: subject, account: `${network}:${item.payer}` })),
  };
  const move = { paymentId: subject, actor: 'watcher', evidence, lease };
  const buyer = { account: item.account, name: item.buyerName, icon: item.buyerIcon };
  const token = { asset: item.asset, value: BigInt(item.amount) };
  if (status === 'requires_action') {
    // The payer sent native coin and closed the page, so the payer is known only now. After a crash between the two transitions the
    // event is still undecided, and the next round continues with the second one.
    await deps.movePayment({ ...move, event: confirmedByCoin(item) });
  }
  const outcome = await deps.movePayment({
    ...move,
    event: { type: 'succeeded', buyer, token, transaction: { hash: event.transactionHash, nonce: slot } },
    items: { ended: [{ key, state: 'paid', reason: null, proof: proofOf(event) }] },
    settlement: item.isHeld ? undefined : settlementBy(item, event),
    decided: { network, ...decisionOf(event) },
  });
  deps.world.crashPoint?.('watch.settled');
  if (!outcome.ok) await recordExtra(deps, input, outcome.payment?.status);
  return SETTLED;
}

function decisionOf({ transactionHash, logIndex }: StoredEvent): DecidedEvent {
  return { transactionHash, logIndex, problem: null };
}

/**
 * Handles a paid event of an item that is already paid, and marks the event as decided. If an earlier paid event of the item is stored, the
 * payer was charged twice: two kinds of authorization, EIP-3009 and Permit2, used the same commitment. The payment's lots are then computed
 * again, and the second amount becomes unexpected money. If no earlier event is stored, this event paid the item, and a node of an older
 * version stopped after it had stored that and before it marked the event.
 */
async function noteSecond(deps: WatchDeps, { network, lease, event, item }: PaidInput): Promise<void> {
  const first = await findPaidEvent(deps.db.sql, { network, commitment: item.commitment, before: event });
  await commandOfLeader(deps, lease, async (tx, now) => {
    await lockPayments(tx, [item.subject]);
    await markDecided(tx, network, [decisionOf(event)], now);
    if (first === undefined) await touchPositions(tx, [item.subject]);
    else await markPositionsOutdated(tx, [item.subject], now);
  });
}

function proofOf({ transactionHash, blockNumber }: StoredEvent) {
  return { transaction: transactionHash, block: blockNumber };
}

/** The settlement of a payment whose transaction brought the money to the merchant's own account. */
function settlementBy({ asset, amount, fee, recipient }: StoredItem, { transactionHash }: StoredEvent) {
  return { asset, amount: (BigInt(amount) - BigInt(fee)).toString(), recipient, transactionHash };
}

/**
 * Records a paid event of a payment that had ended before. Either the same item had paid it and was reopened by a deep reorg, or the
 * money is unexpected and has to be returned.
 */
async function recordExtra(deps: WatchDeps, input: PaidInput, status: PaymentStatus | undefined): Promise<void> {
  const { item, event, lease } = input;
  const { key, subject } = item;
  const others = (await findItemsOf(deps.db.sql, subject)).filter((other) => other.key !== key);
  const isSame = status === 'succeeded' && others.every(({ state }) => state !== 'paid');
  const reason = isSame ? null : 'paid_after_end';
  const end = { key, state: 'paid', reason, proof: proofOf(event) } as const;
  await commandOfLeader(deps, lease, async (tx, now) => {
    if (!isSame) await recordLateMoney(tx, { item, event, actor: 'watcher' }, now);
    await closeItems(tx, [end], now);
    await holdItems(tx, [key], now);
    await markDecided(tx, item.network, [decisionOf(event)], now);
    await touchPositions(tx, [subject]);
    if (isSame) await noteTransaction(tx, input, now);
  });
  if (!isSame) return raiseAlert(deps, lateAlert(deps.registry, item, status));
  return clearAlert(deps, { name: 'deep_reorg', subject });
}

/** Stores the transaction that finally paid the payment, because the previous one has left the chain. */
async function noteTransaction(tx: Tx, { network, event, item, slot }: PaidInput, at: Date): Promise<void> {
  const { transactionHash, blockNumber, blockHash, logIndex } = event;
  const evidence = { network, transaction: transactionHash, block: blockNumber, blockHash, logIndex };
  const transaction = { hash: transactionHash, nonce: slot };
  if (!item.isHeld) await moveSettlement(tx, { paymentId: item.subject, transactionHash });
  await notePayments(tx, [item.subject], { type: 'payment.reorged', actor: 'watcher', evidence, transaction }, at);
}
