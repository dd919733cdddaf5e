import { amountText } from '../../../chains/amount-text.ts';
import type { Chains } from '../../../chains/chains.ts';
import type { Registry } from '../../../chains/registry.ts';
import { unitsOfWeight } from '../../../chains/weight.ts';
import { FloorError } from '../../../domain/book-floors.ts';
import { payoutEntry } from '../../../domain/books.ts';
import { parseAccount } from '../../../domain/caip.ts';
import { countOwed, groupOf, type Holdings, holdingsOf, type Spend } from '../../../domain/money/holding.ts';
import { choosePayouts, type Payout, type PayoutRules } from '../../../domain/money/money-out.ts';
import type { Ending } from '../../../domain/money/terms.ts';
import { findLotsOf, findSpendsOf, insertSpends, type StoredLot } from '../../../store/money/lots.ts';
import type { NewOutgoing } from '../../../store/money/outgoing.ts';
import {
  clearProblems,
  lockPayableLots,
  NOT_HELD,
  type PayableLot,
  postponeLots,
} from '../../../store/money/payable-lots.ts';
import { upsertAlert } from '../../../store/plumbing/alerts.ts';
import { savepoint, type Tx } from '../../../store/plumbing/database.ts';
import { recordEntries } from '../../books/record.ts';
import { type CommandDeps, command } from '../../command.ts';
import { ownDestinations } from '../../parties/destination-rows.ts';
import { shareFreezes } from '../../parties/freeze-heads.ts';
import { stoppedLots } from '../../released-places.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { aboutOutgoing } from '../order/about-outgoing.ts';
import { orderOutgoing } from '../order/order-outgoing.ts';
import { logPayouts } from './log-payouts.ts';

/** The bound of payments in one round. */
const MAX_PAYMENTS = 500;

export interface PayOutDeps extends CommandDeps, RowKeyDeps {
  readonly chains: Chains;
  /** The smallest amount of unexpected money, in whole tokens, that is worth a transfer: see DEPOSIT_MINIMUM. */
  sweepFrom?(network: string): bigint | undefined;
}

/**
 * Pays held lots out to merchants with a registered destination. Returns true if there are more. Payouts, refunds and returns take
 * lots under the lock of the payment, so no unit is taken twice. Lots that cannot be paid out now are postponed, so that they do
 * not fill the round.
 */
export async function payOutHeld(deps: PayOutDeps): Promise<boolean> {
  const networks = deps.chains.list().flatMap(({ chain, intermediateSigner }) => {
    return intermediateSigner === undefined ? [] : [chain.network.chainId];
  });
  if (networks.length === 0) return false;
  return command(deps, async (tx, now) => {
    await shareFreezes(tx, deps);
    const payable = await lockPayableLots(tx, { networks, now, limit: MAX_PAYMENTS });
    if (payable.length === 0) return false;
    const own = await ownDestinations(tx, deps, payable, now);
    const forged = payable.filter((lot) => !own.includes(lot));
    await postpone(tx, { lots: forged, problem: 'destination_refused', now });
    await order(tx, deps, own, now);
    return new Set(payable.map(({ paymentId }) => paymentId)).size === MAX_PAYMENTS;
  });
}

/**
 * The ending that is passed to `choosePayouts`. Any ending would do: only lots of ended payments are read here, and payouts do not depend
 * on how a payment ended.
 */
const ENDED: Ending = { is: 'unpaid', untilS: 0 };

async function order(tx: Tx, deps: PayOutDeps, payable: readonly PayableLot[], now: Date): Promise<void> {
  const byId = new Map(payable.map((lot) => [lot.id, lot]));
  const ids = [...new Set(payable.map(({ paymentId }) => paymentId))];
  const [stored, spends] = await Promise.all([findLotsOf(tx, ids), findSpendsOf(tx, ids)]);
  const lots = stored.map(countOwed);
  const spendsOf = Map.groupBy(spends, ({ payment }) => payment);
  const remainders = new Map<string, bigint>();
  const listed = new Set<string>();
  const chosen: Payout[] = [];
  for (const [payment, own] of Map.groupBy(lots, (lot) => lot.payment)) {
    const holdings = holdingsOf(own, spendsOf.get(payment) ?? []);
    for (const { id, remainder } of holdings.held) remainders.set(id, remainder);
    const waiting = worthStopping(deps, holdings, await stoppedLots(deps, tx, payment, own));
    for (const id of waiting) listed.add(id);
    chosen.push(...choosePayouts(ENDED, holdings, rulesFor(deps, own, { payable: byId, listed })));
  }
  const all = { chosen, byId, lots };
  if (!(await isBegun(tx, deps, all, now))) await beginEach(tx, deps, all, now);
  const begun = new Set(chosen.flatMap((payout) => payout.spends.map(({ lot }) => lot)));
  const left = lots.filter(({ id }) => byId.has(id) && !begun.has(id));
  const unswept = unsweptGroups(lots);
  const problemOf = (lot: StoredLot): WaitProblem => {
    if (listed.has(lot.id)) return 'listed';
    if (unswept.has(groupOf(lot))) return 'sweep';
    return remainders.get(lot.id) === 0n ? 'debt' : 'below_minimum';
  };
  for (const [problem, some] of Map.groupBy(left, problemOf)) {
    const waiting = some.flatMap(({ id }) => byId.get(id) ?? []);
    await postpone(tx, { lots: waiting, problem, now });
  }
}

/**
 * The rules for `choosePayouts`. They stop lots that are not payable, and lots of listed senders. They also stop the lots that paid a
 * payment while a part of them is still at its deposit address, because one payout settles the whole payment.
 */
function rulesFor(
  deps: PayOutDeps,
  lots: readonly StoredLot[],
  { payable, listed }: { readonly payable: ReadonlyMap<string, unknown>; readonly listed: ReadonlySet<string> },
): PayoutRules {
  const unswept = unsweptGroups(lots);
  const isStopped = (lot: StoredLot) => !payable.has(lot.id) || unswept.has(groupOf(lot)) || listed.has(lot.id);
  const stopped = lots.filter(isStopped).map(({ id }) => id);
  return { stopped: new Set(stopped), returning: new Set(), minimum: (asset) => minimumOf(deps, asset) };
}

function minimumOf({ sweepFrom, registry }: PayOutDeps, asset: string): bigint {
  return unitsOfWeight(registry.asset(asset), sweepFrom?.(asset.split('/')[0] ?? '') ?? 1n);
}

/**
 * The ids of held lots from senders on the screening list, which wait for a decision of an operator. Our sweep of such money is stopped,
 * but a stranger can sweep it to our account. As for sweeps, an amount below the minimum is not stopped.
 */
function worthStopping(deps: PayOutDeps, { held }: Holdings, stopped: ReadonlySet<string>): readonly string[] {
  const groups = Map.groupBy(
    held.filter(({ id, remainder }) => stopped.has(id) && remainder > 0n),
    groupOf,
  );
  const worth = [...groups.values()].filter(
    (lots) => lots.reduce((sum, { remainder }) => sum + remainder, 0n) >= minimumOf(deps, lots[0]?.asset ?? ''),
  );
  return worth.flat().map(({ id }) => id);
}

function unsweptGroups(lots: readonly StoredLot[]): ReadonlySet<string> {
  return new Set(lots.filter(({ isPaying, isHeld, waiting }) => isPaying && isHeld && waiting > 0n).map(groupOf));
}

interface Begun {
  readonly chosen: readonly Payout[];
  readonly byId: ReadonlyMap<string, PayableLot>;
  readonly lots: readonly StoredLot[];
}

/** Begins payouts. Returns false if the books refuse one of them; then no row is written. */
async function isBegun(tx: Tx, deps: PayOutDeps, payouts: Begun, now: Date): Promise<boolean> {
  try {
    await savepoint(tx, (inner) => begin(inner, deps, payouts, now));
    return true;
  } catch (error) {
    if (!(error instanceof FloorError)) throw error;
    return false;
  }
}

/**
 * Begins payouts one by one, after the books have refused at least one of them. A lot whose money never came must not stop the other
 * payouts.
 */
async function beginEach(tx: Tx, deps: PayOutDeps, { chosen, byId, lots }: Begun, now: Date): Promise<void> {
  for (const payout of chosen) {
    if (await isBegun(tx, deps, { chosen: [payout], byId, lots }, now)) continue;
    const refused = payout.spends.flatMap(({ lot }) => byId.get(lot) ?? []);
    await postpone(tx, { lots: refused, problem: NOT_HELD, now });
    const { id, asset, amount } = payout;
    const message = `A payout of ${amountText(deps.registry, asset, amount)} for ${refused[0]?.paymentId} is not begun: the books hold less for its merchant than the payment’s lots say.`;
    await upsertAlert(tx, { name: 'outgoing_refused', subject: id, message, lastSeen: now });
  }
}

async function begin(tx: Tx, deps: PayOutDeps, { chosen, byId, lots }: Begun, now: Date): Promise<void> {
  if (chosen.length === 0) return;
  const rows = chosen.map((payout): NewOutgoing => {
    const [first] = payout.spends;
    const settlement = byId.get(first?.lot ?? '')?.settlement;
    const lot = lots.find(({ id }) => id === first?.lot);
    if (settlement === undefined || lot === undefined) throw new Error('A payout was chosen that no lot begins.');
    return outgoingOf(deps.registry, payout, lot, settlement.destination);
  });
  const begun = await orderOutgoing(tx, deps, rows, now);
  if (begun.length !== rows.length) throw new Error('A held amount is on its way already.');
  const spends: readonly Spend[] = chosen.flatMap((payout) => payout.spends);
  await insertSpends(tx, spends);
  await clearProblems(
    tx,
    spends.map(({ lot }) => lot),
  );
  const entries = rows.map((row) => payoutEntry('sent', aboutOutgoing(row), row.amount));
  await recordEntries(tx, entries, now);
  await logPayouts(tx, rows, { type: 'payout.begun', actor: 'payer-out', evidence: {} }, now);
}

function outgoingOf(
  registry: Registry,
  { id, network, asset, account, amount }: Payout,
  lot: StoredLot,
  destination: string,
): NewOutgoing {
  const method = registry.asset(asset)?.pay?.method;
  if (method === undefined) throw new Error(`${asset} is no asset that can be sent.`);
  const { merchantId, payment: paymentId } = lot;
  const recipient = addressOf(destination);
  const terms = { id, purpose: 'payout', network, asset, method, payer: account, recipient, amount } as const;
  return { ...terms, merchantId, floatOwner: null, paymentId };
}

/** The reasons why a lot is not paid out now, each with the time until the next check. */
const RETRY_MS = {
  /** The gateway did not write the destination. An alert is raised. */
  destination_refused: 5 * 60_000,
  /** The books hold less than the lot. An alert is raised. */
  [NOT_HELD]: 5 * 60_000,
  /** A part of the money that paid the payment is still at its deposit address. */
  sweep: 60_000,
  /** A reorg removed money that was already spent, and this lot makes up for it. */
  debt: 10 * 60_000,
  /** Accounts on the screening list have sent the lot. An operator decides. */
  listed: 5 * 60_000,
  /** Unexpected money below the minimum. More of it may come. */
  below_minimum: 6 * 3_600_000,
} as const;
type WaitProblem = keyof typeof RETRY_MS;

async function postpone(
  tx: Tx,
  { lots, problem, now }: { readonly lots: readonly PayableLot[]; readonly problem: WaitProblem; readonly now: Date },
): Promise<void> {
  const retryAt = new Date(now.getTime() + RETRY_MS[problem]);
  for (const [destination, some] of Map.groupBy(lots, ({ settlement }) => settlement.destination)) {
    await postponeLots(tx, { lots: some.map(({ id }) => id), destination, problem, retryAt });
  }
}

function addressOf(destination: string): string {
  const account = parseAccount(destination);
  if (!account.ok) throw new Error('A stored destination is not an account.');
  return account.value.address;
}
