import type { ConnectedChain } from '../../chains/chains.ts';
import { findAsset } from '../../chains/networks.ts';
import { type BookedItem, correctingEntry, paidPosition } from '../../domain/books.ts';
import { idBytes } from '../../domain/ids.ts';
import { decide, isFinal, type PaymentEvent } from '../../domain/payment.ts';
import { findDestinationOwners } from '../../store/book-comparison.ts';
import { type ComparedItem, findComparedItems, findOtherItems } from '../../store/book-items.ts';
import { positionsOf, refoldBalances } from '../../store/books.ts';
import { findCursors } from '../../store/chain-cursors.ts';
import { markDecided, putEvents } from '../../store/chain-events.ts';
import type { Tx } from '../../store/database.ts';
import { insertPaymentSettlements } from '../../store/payment-settlements.ts';
import { lockPayments, movePayments, type Payment, stateOf } from '../../store/payments.ts';
import { holdNetAmounts } from '../../store/payouts.ts';
import { insertRestoredItem, insertRestoredPayment } from '../../store/restored-payments.ts';
import { noncesOf } from '../../store/sends.ts';
import { type CommandDeps, command } from '../command.ts';
import { storedEvent } from '../watch/read-events.ts';
import { isSame, ownershipOf, type PaidEvent } from './compare-events.ts';
import { recordEntries } from './record.ts';
import { subjectOfEvent } from './subject-of-event.ts';

export interface RebuildInput {
  readonly from: number;
  readonly to?: number | undefined;
  /** Whose payments are those of which the chain cannot tell. */
  readonly merchantId?: string | undefined;
}

export interface RebuildReport {
  readonly network: string;
  readonly from: number;
  readonly to: number;
  /** Payments that were made again, in whole or in part. */
  readonly rebuilt: readonly string[];
  /** Payments that are on the chain, and whose merchant cannot be known from it. */
  readonly unplaced: readonly string[];
}

const RANGE = 500;

/**
 * Makes payments, items and book entries again that are on the chain and were lost here, as far as the chain can know: id,
 * payer, amounts, recipient, transaction. The merchant is who is paid at the recipient; the price, the reference and the
 * time to pay are lost. What is there stays as it is. Undefined when the chain was never read.
 */
export async function rebuild(
  deps: CommandDeps,
  connected: ConnectedChain,
  input: RebuildInput,
): Promise<RebuildReport | undefined> {
  const { chain } = connected;
  const network = chain.network.chainId;
  const cursor = (await findCursors(deps.db.sql)).find((each) => each.network === network);
  if (cursor === undefined) return undefined;
  const to = Math.min(input.to ?? cursor.finalNumber, cursor.finalNumber);
  const rebuilt: string[] = [];
  const unplaced: string[] = [];
  for (let start = input.from; start <= to; start += RANGE) {
    const told = await chain.events(start, Math.min(start + RANGE - 1, to));
    const paid = told.filter((event): event is PaidEvent => event.type === 'paid');
    for (const event of await lostEvents(deps, connected, paid)) {
      const outcome = await restore(deps, connected, event, input.merchantId);
      if (outcome === 'unplaced') unplaced.push(subjectOfEvent(event));
      if (outcome === 'rebuilt') rebuilt.push(subjectOfEvent(event));
    }
  }
  // A row that was dropped may have been counted when it was sealed.
  await command(deps, (tx) => refoldBalances(tx, network));
  return { network, from: input.from, to, rebuilt, unplaced };
}

/** Events whose item is missing, and those of paid items: their entries may be. */
async function lostEvents(
  { db }: CommandDeps,
  { chain, intermediateAccount }: ConnectedChain,
  events: readonly PaidEvent[],
): Promise<PaidEvent[]> {
  const commitments = [...new Set(events.map(({ commitment }) => commitment))];
  const [items, others] = await Promise.all([
    findComparedItems(db.sql, commitments),
    findOtherItems(db.sql, commitments),
  ]);
  const known = new Map(items.map((item) => [item.reference, item]));
  const unknown = events.filter(({ commitment }) => !known.has(commitment) && !others.has(commitment));
  const isOurs = await ownershipOf(db.sql, { network: chain.network.chainId, intermediateAccount, unknown });
  return events.filter((event) => {
    // What leaves the intermediate account is no payment, whether or not its item is known.
    if (others.has(event.commitment) || isSame(event.payer, intermediateAccount)) return false;
    const item = known.get(event.commitment);
    // One that is not paid yet is the watcher's to decide.
    return item === undefined ? isOurs(event) : item.state === 'paid';
  });
}

type Outcome = 'rebuilt' | 'unplaced' | 'intact';

async function restore(
  deps: CommandDeps,
  connected: ConnectedChain,
  event: PaidEvent,
  fallback: string | undefined,
): Promise<Outcome> {
  const block = await connected.chain.block(event.block.number);
  const paidAt = new Date((block?.timestampS ?? 0) * 1000);
  return command(deps, async (tx, now) => {
    const id = subjectOfEvent(event);
    const [payment] = await lockPayments(tx, [id]);
    const [present] = await findComparedItems(tx, [event.commitment]);
    if (present !== undefined) return restoreEntries(tx, event, present, now);
    const merchantId = payment?.merchantId ?? (await merchantOf(tx, connected, event)) ?? fallback;
    if (merchantId === undefined) return 'unplaced';
    const restored = payment ?? (await restorePayment(tx, event, { id, merchantId, paidAt, now }));
    if (restored === undefined) return 'unplaced';
    const isExtra = isFinal(restored.status) && restored.transactionHash !== event.transactionHash;
    const isHeld = isSame(event.recipient, connected.intermediateAccount);
    await restoreItem(tx, connected, event, { isHeld, isExtra, paidAt });
    if (!isFinal(restored.status)) await succeed(tx, event, restored, now);
    if (isHeld) await holdNetAmounts(tx, [event.commitment], now);
    else if (!isExtra) await settle(tx, event, now);
    await noteEvent(tx, event, now);
    await restoreEntries(tx, event, { ...bookedItem(event, merchantId, isHeld), isExtra }, now);
    return 'rebuilt';
  });
}

/** Who is paid at the recipient, if that is one merchant only. */
async function merchantOf(tx: Tx, { chain }: ConnectedChain, { asset, recipient }: PaidEvent) {
  const owners = await findDestinationOwners(tx, [`${chain.network.chainId}:${recipient}`]);
  const merchants = new Set(owners.filter((owner) => owner.asset === asset).map(({ merchantId }) => merchantId));
  return merchants.size === 1 ? [...merchants][0] : undefined;
}

async function restorePayment(
  tx: Tx,
  event: PaidEvent,
  { id, merchantId, paidAt, now }: { id: string; merchantId: string; paidAt: Date; now: Date },
): Promise<Payment | undefined> {
  const { asset, amount } = event;
  const payment = {
    id,
    merchantId,
    asset,
    amount,
    decimals: findAsset(asset)?.decimals ?? 0,
    account: accountOf(event),
    createdAt: timeOf(id),
    paidAt,
  };
  if (!(await insertRestoredPayment(tx, payment, now))) return undefined;
  const [restored] = await lockPayments(tx, [id]);
  return restored;
}

async function restoreItem(
  tx: Tx,
  { chain, feeAccount }: ConnectedChain,
  event: PaidEvent,
  { isHeld, isExtra, paidAt }: { isHeld: boolean; isExtra: boolean; paidAt: Date },
): Promise<void> {
  const { commitment, asset, payer, recipient, amount, fee } = event;
  const method = findAsset(asset)?.pay?.method ?? 'eip3009-vrs';
  const endReason = isExtra ? 'paid_after_end' : null;
  const network = chain.network.chainId;
  const from = { network, subject: subjectOfEvent(event), account: accountOf(event), feeAccount };
  const item = { commitment, asset, method, payer, recipient, amount, fee, isHeld, endReason, paidAt } as const;
  await insertRestoredItem(tx, { ...from, ...item });
}

/** The moves the watcher would have made. */
async function succeed(tx: Tx, event: PaidEvent, payment: Payment, now: Date): Promise<void> {
  const buyer = { account: accountOf(event), name: 'Wallet', icon: null };
  const token = { asset: event.asset, value: event.amount };
  const nonce = (await noncesOf(tx, [event.transactionHash])).get(event.transactionHash) ?? null;
  const transaction = { hash: event.transactionHash, nonce };
  const steps: [PaymentEvent, object][] = [[{ type: 'succeeded', transaction }, { transaction }]];
  if (payment.status === 'requires_action') {
    steps.unshift([
      { type: 'confirmed', buyer, token, isNative: true },
      { buyer, token },
    ]);
  }
  for (const [step, facts] of steps) {
    const [current] = await lockPayments(tx, [payment.id]);
    const decision = current && decide(stateOf(current), step, now.getTime());
    if (current === undefined || !decision?.ok) throw new Error('A payment that is not over cannot succeed.');
    const evidence = { rebuilt: true, commitment: event.commitment, block: event.block.number };
    const move = { payment: current, to: decision.to, at: now, event: step.type, actor: 'operator', evidence, facts };
    await movePayments(tx, [move]);
  }
}

async function settle(tx: Tx, event: PaidEvent, at: Date): Promise<void> {
  const { asset, recipient, transactionHash } = event;
  const amount = (event.amount - event.fee).toString();
  await insertPaymentSettlements(tx, [
    { paymentId: subjectOfEvent(event), asset, amount, recipient, transactionHash, at },
  ]);
}

async function noteEvent(tx: Tx, event: PaidEvent, at: Date): Promise<void> {
  const [network = ''] = event.asset.split('/');
  const stored = storedEvent(event);
  await putEvents(tx, network, [stored]);
  await markDecided(tx, network, [{ ...stored, problem: null }], at);
}

/** Brings what the books say of the item to what the chain says. */
async function restoreEntries(
  tx: Tx,
  event: PaidEvent,
  item: BookedItem & Pick<ComparedItem, 'isExtra'>,
  at: Date,
): Promise<Outcome> {
  const is = (await positionsOf(tx, [event.commitment])).get(event.commitment) ?? [];
  const truth = { ...item, amount: event.amount, fee: event.fee };
  const proof = { transaction: event.transactionHash, block: event.block.number };
  const entry = correctingEntry(truth, { is, shouldBe: paidPosition(truth, item.isExtra), proof });
  if (entry === undefined) return 'intact';
  await recordEntries(tx, [entry], at);
  return 'rebuilt';
}

function bookedItem(event: PaidEvent, merchantId: string, isHeld: boolean): BookedItem {
  const { asset, amount, fee, commitment } = event;
  const [network = ''] = asset.split('/');
  return { network, asset, subject: subjectOfEvent(event), reference: commitment, merchantId, amount, fee, isHeld };
}

/** CAIP-10. */
function accountOf({ asset, payer }: PaidEvent): string {
  return `${asset.split('/')[0]}:${payer}`;
}

/** Ids begin with the time they were made at. */
function timeOf(id: string): Date {
  return new Date(Number.parseInt(Buffer.from(idBytes(id)).toString('hex').slice(0, 12), 16));
}
