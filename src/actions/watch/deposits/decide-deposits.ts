import { fullWeightOf } from '../../../chains/weight.ts';
import { isNamed, leastPaid, sweptFee } from '../../../domain/deposit.ts';
import { depositedEntry } from '../../../domain/deposit-entries.ts';
import { type LateReason, lateReasonOf } from '../../../domain/late-money.ts';
import type { PaymentEvent } from '../../../domain/payment.ts';
import { isFinal } from '../../../domain/payment.ts';
import { strayId } from '../../../domain/stray.ts';
import { listDecidedSweeps } from '../../../store/chain/chain-events.ts';
import { lockMoney, putArrived, putTold } from '../../../store/chain/deposit-money.ts';
import {
  type DepositTransfer,
  findCompletingTransfer,
  listDepositTransfers,
  sumDepositTransfers,
} from '../../../store/chain/deposit-transfers.ts';
import { listStaleDeposits, listStaleStrays, type OpenDeposit } from '../../../store/chain/deposits.ts';
import { findItems } from '../../../store/chain/items.ts';
import { insertStrays } from '../../../store/money/strays.ts';
import { lockPayments } from '../../../store/payments/payments.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { recordEntries } from '../../books/record.ts';
import { commandOfLeader } from '../../lease.ts';
import { notePayments } from '../../paying/move-payment.ts';
import { isItsOwnFault, mostPerRound, type View, type WatchDeps, type Watcher } from '../watcher.ts';
import { type Assessment, assessDeposit } from './assess-deposit.ts';
import { orderSweep } from './order-sweep.ts';
import { settleDeposit } from './settle-swept.ts';

/** The evidence names the largest transfers. */
const MAX_NAMED = 50;

/**
 * Looks at deposit addresses whose money has moved. A payment is `processing` as soon as enough is in a block, and
 * `succeeded` when enough is final. Everything else that arrived is named to the partner. Then the money is swept. Stray
 * money never counts for the payment.
 */
export async function decideDeposits(deps: WatchDeps, watcher: Watcher, view: View): Promise<void> {
  watcher.memory.disputes.delete('deposits');
  const { turns } = watcher.memory;
  const ask = { network: watcher.network, limit: mostPerRound(deps) };
  const [asked, strays] = await Promise.all([
    listStaleDeposits(deps.db.sql, { ...ask, after: turns.deposits }),
    listStaleStrays(deps.db.sql, { ...ask, after: turns.strays }),
  ]);
  turns.deposits = asked.last;
  turns.strays = [strays.at(-1)?.commitment ?? '', strays.at(-1)?.asset ?? ''];
  await Promise.all(
    [...asked.deposits, ...strays].map((deposit) =>
      decideDeposit(deps, watcher, view, deposit).catch((error: unknown) => {
        if (!isItsOwnFault(error)) throw error;
        deps.log.error({ payment: deposit.paymentId, err: error }, 'a deposit address cannot be judged');
      }),
    ),
  );
}

async function decideDeposit(deps: WatchDeps, watcher: Watcher, view: View, deposit: OpenDeposit): Promise<void> {
  const { isStray } = deposit;
  if (!isStray && deposit.paymentStatus === 'requires_action') await notice(deps, watcher, deposit);
  const seen = await assessDeposit(deps, watcher, view, deposit);
  if (seen === undefined) return;
  await record(deps, watcher, deposit, seen);
  deps.world.crashPoint?.('deposit.recorded');
  if (!isStray && isEnough(deps, deposit, seen)) await payByDeposit(deps, watcher, deposit, seen);
  if (!isStray) await settleDeposit(deps, watcher, deposit.commitment);
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
  const [last, transfers] = await Promise.all([
    findCompletingTransfer(deps.db.sql, { ...ask, asked: item.amount }),
    listDepositTransfers(deps.db.sql, { commitment, asset, limit: MAX_NAMED }),
  ]);
  const evidence = { network, commitment, transfers: transfers.map(evidenceOf) };
  const event = confirmedBy(deposit, BigInt(item.amount), last);
  await deps.movePayment({ paymentId, event, actor: 'watcher', evidence, lease });
}

/** The sender of the transfer that made it enough is the buyer. It may be an exchange. */
function buyerOf({ network, item, address }: OpenDeposit, last: DepositTransfer | undefined) {
  return { account: `${network}:${last?.sender ?? address}`, name: item.buyerName, icon: item.buyerIcon };
}

function confirmedBy(deposit: OpenDeposit, value: bigint, last: DepositTransfer | undefined): PaymentEvent {
  const token = { asset: deposit.asset, value };
  return { type: 'confirmed', buyer: buyerOf(deposit, last), token, isNative: true };
}

/** The money that has arrived since the last look is booked. */
async function record(deps: WatchDeps, { lease }: Watcher, deposit: OpenDeposit, seen: Assessment): Promise<void> {
  await commandOfLeader(deps, lease, async (tx, at) => {
    await lockPayments(tx, [deposit.paymentId]);
    const row = await lockMoney(tx, deposit);
    if (row === undefined) return;
    const units = seen.arrived - row.arrived;
    if (units !== 0n) await recordEntries(tx, [depositedEntry(subjectOf(deposit), units, seen.block)], at);
    await putArrived(tx, deposit, { arrived: seen.arrived, block: seen.block });
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
  const asked = BigInt(item.amount);
  // Less than asked, where the operator tolerates it.
  const paid = seen.counted < asked ? seen.counted : asked;
  if (item.state === 'paid' || isFinal(deposit.paymentStatus)) return;
  const ask = { commitment, asset, deadline: item.deadline, asked: paid.toString(), upTo: seen.block };
  const [last, transfers] = await Promise.all([
    findCompletingTransfer(deps.db.sql, ask),
    listDepositTransfers(deps.db.sql, { commitment, asset, limit: MAX_NAMED }),
  ]);
  // Without a transfer, after a rebuild or a lost log, the sweep shows where the money came from.
  const [sweep] = last === undefined ? await listDecidedSweeps(deps.db.sql, { network, commitment, asset }) : [];
  const evidence = {
    network,
    commitment,
    block: seen.block,
    blockHash: seen.blockHash,
    arrived: seen.arrived.toString(),
    ...(seen.arrived > asked && { overpaid: (seen.arrived - asked).toString() }),
    transfers: transfers.map(evidenceOf),
  };
  const move = { paymentId, actor: 'watcher', evidence, lease };
  // After a crash between the two moves the next round continues with the second one.
  await deps.movePayment({ ...move, event: confirmedBy(deposit, paid, last) });
  const proof = last && { transaction: last.transactionHash, block: last.blockNumber };
  await deps.movePayment({
    ...move,
    event: {
      type: 'succeeded',
      buyer: buyerOf(deposit, last),
      token: { asset, value: paid },
      transaction: { hash: last?.transactionHash ?? sweep?.transactionHash ?? '', nonce: null },
    },
    items: { ended: [{ commitment, state: 'paid', reason: null, ...(proof && { proof }) }] },
  });
  deps.world.crashPoint?.('deposit.paid');
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

/**
 * Names money to the partner that the payment did not need: too much, too late, for a payment that was over, or in a wrong
 * token. Money in a wrong token can never pay the payment, so it is named before the payment has ended.
 */
async function tellExtra(deps: WatchDeps, { lease }: Watcher, deposit: OpenDeposit, seen: Assessment): Promise<void> {
  const { commitment, paymentId, network, asset, isStray } = deposit;
  await commandOfLeader(deps, lease, async (tx, at) => {
    const [payment] = await lockPayments(tx, [paymentId]);
    if (payment === undefined || (!isStray && !isFinal(payment.status))) return;
    const row = await lockMoney(tx, deposit);
    const isPaid = await isPaidBy(tx, commitment);
    const needed = !isStray && isPaid ? BigInt(deposit.item.amount) : 0n;
    const extra = seen.arrived - needed;
    if (row === undefined || !isNamed({ ...row, extra, isWorth: fullWeightOf(asset, extra - row.told) > 0n })) return;
    await putTold(tx, deposit, extra);
    const units = extra - row.told;
    const amount = units.toString();
    const { status, updatedAt } = payment;
    const reason = lateReasonOf({
      status,
      isOfPaid: isPaid,
      isOtherToken: isStray,
      isOtherNetwork: isStray && network !== deposit.item.network,
      isInTime: row.told < (await countedBefore(tx, deposit, updatedAt, seen.block)),
    });
    const { block, arrived } = seen;
    const id = await insertStray(tx, { deposit, block, arrived, units, before: row.told, reason }, at);
    const evidence = { stray: id, commitment, network, block: seen.block, asset, amount, total: extra.toString() };
    const lateMoney = { id, reason, asset, amount };
    await notePayments(tx, [paymentId], { type: 'payment.late_money', actor: 'watcher', evidence, lateMoney }, at);
  });
}

/**
 * The money can be returned to an account that the partner names, or by `till strays return`. It was swept to the merchant or will
 * be, so floats pay for its return.
 */
async function insertStray(
  tx: Tx,
  {
    deposit,
    block,
    arrived,
    units,
    before,
    reason,
  }: {
    readonly deposit: OpenDeposit;
    readonly block: number;
    readonly arrived: bigint;
    readonly units: bigint;
    readonly before: bigint;
    readonly reason: LateReason;
  },
  at: Date,
): Promise<string> {
  const { commitment, network, asset, paymentId, merchantId, item } = deposit;
  const source = 'late_payment';
  const id = strayId({ network, transactionHash: `${commitment} ${asset} ${before}`, logIndex: 0, source });
  const stray = {
    id,
    network,
    transactionHash: null,
    logIndex: 0,
    blockNumber: block,
    source,
    asset,
    sender: null,
    account: item.recipient,
    amount: units.toString(),
    fee: feeWithin(deposit, { arrived, units }).toString(),
    isHeld: false,
    paymentId,
    merchantId,
    isBooked: true,
    state: 'unclaimed',
    reason,
  } as const;
  await insertStrays(tx, [stray], at);
  return id;
}

/**
 * The part of a sweep's fee that falls on these units, the last of all that has arrived. The asked amount comes first, and
 * bears the whole fee of one sweep. So the operator never returns a fee that was not taken.
 */
function feeWithin({ asset, item }: OpenDeposit, { arrived, units }: { arrived: bigint; units: bigint }): bigint {
  const feeOf = (amount: bigint) => sweptFee(item, { asset, amount });
  return feeOf(arrived) - feeOf(arrived - units);
}

/** The money that came in time, and before the payment ended. */
async function countedBefore(
  tx: Tx,
  { commitment, asset, item }: OpenDeposit,
  end: Date,
  upTo: number,
): Promise<bigint> {
  const deadline = end < item.deadline ? end : item.deadline;
  return (await sumDepositTransfers(tx, { commitment, asset, deadline, upTo })).counted;
}

async function isPaidBy(tx: Tx, commitment: string): Promise<boolean> {
  const [item] = await findItems(tx, [commitment]);
  return item?.state === 'paid';
}
