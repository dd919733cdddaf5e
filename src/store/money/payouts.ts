import type { PayMethod } from '../../domain/item.ts';
import type { PayoutState } from '../../domain/payout.ts';
import { lastNumber, type StoredDestination } from '../parties/destinations.ts';
import { isPayoutStopped } from '../parties/freezes.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

/** The net amount of a payment that was paid to the intermediate account, as far as no refund has taken it. */
export interface Payout {
  readonly paymentId: string;
  readonly merchantId: string;
  readonly network: string;
  readonly asset: string;
  readonly method: PayMethod;
  /** The account that holds it. */
  readonly account: string;
  readonly amount: string;
  readonly state: PayoutState;
  readonly problem: string | null;
}

/** A payout with the destination that is registered now. */
export interface PayablePayout extends Payout {
  /** CAIP-10. */
  readonly destination: string;
  readonly settlement: StoredDestination;
}

/**
 * Inserts held amounts for these items, which have just paid their payments. Money at a deposit address is held when it is
 * swept.
 */
export async function holdNetAmounts(tx: Tx, commitments: readonly string[], at: Date): Promise<void> {
  await tx`
    insert into payouts (payment_id, merchant_id, network, asset, method, account, amount, state, held_at, updated_at)
    select p.id, p.merchant_id, i.network, i.asset, i.method, i.recipient, i.amount - i.fee, 'held', ${at}, ${at}
    from items i join payments p on p.id = i.subject
    where i.commitment = any(${commitments as string[]}::text[]) and i.purpose = 'payment' and i.is_held
      and i.state = 'paid' and i.end_reason is null and i.amount > i.fee
      and i.method not in ('deposit', 'deposit-vrs', 'deposit-bytes')
    on conflict (payment_id) do nothing`;
}

/**
 * Deletes the held amounts of sweeps from deposit addresses whose payments were paid by a wallet after all, and returns them.
 * The payment's own money takes their place.
 */
export function takeReplacedHeld(tx: Tx, commitments: readonly string[]) {
  return tx<{ id: string; merchantId: string; asset: string; amount: string }[]>`
    delete from payouts o using items i
    where i.commitment = any(${commitments as string[]}::text[]) and i.purpose = 'payment' and i.state = 'paid'
      and i.end_reason is null and i.method not in ('deposit', 'deposit-vrs', 'deposit-bytes')
      and o.payment_id = i.subject and o.state = 'held'
    returning o.payment_id as id, o.merchant_id as "merchantId", o.asset, o.amount::text`;
}

/** Adds a swept net amount to what is held of a payment. False if the held amount has left, or a refund has taken it whole. */
export async function holdSwept(tx: Tx, held: Omit<Payout, 'state' | 'problem'>, at: Date): Promise<boolean> {
  const { paymentId, merchantId, network, asset, method, account, amount } = held;
  const { count } = await tx`
    insert into payouts (payment_id, merchant_id, network, asset, method, account, amount, state, held_at, updated_at)
    values (${paymentId}, ${merchantId}, ${network}, ${asset}, ${method}, ${account}, ${amount}, 'held', ${at}, ${at})
    on conflict (payment_id) do update set amount = payouts.amount + excluded.amount, updated_at = excluded.updated_at
    where payouts.state = 'held'`;
  return count === 1;
}

/** Takes it away again: the sweep is not on the chain any more. False if so much is not held any more. */
export async function unholdSwept(
  tx: Tx,
  { paymentId, amount }: Pick<Payout, 'paymentId' | 'amount'>,
  at: Date,
): Promise<boolean> {
  const { count: deleted } = await tx`
    delete from payouts where payment_id = ${paymentId} and state = 'held' and amount = ${amount}::numeric`;
  if (deleted === 1) return true;
  const { count } = await tx`
    update payouts set amount = amount - ${amount}::numeric, updated_at = ${at}
    where payment_id = ${paymentId} and state = 'held' and amount > ${amount}::numeric`;
  return count === 1;
}

/**
 * Locks held amounts whose merchants have a destination for them, the oldest first. Rows that another node has locked
 * are left to it. A payout that did not arrive waits, unless there is another destination now. An amount whose
 * destination is its present account stays there. So does an amount that a freeze stops, or whose destination is not yet
 * in force for held money.
 */
export async function lockPayablePayouts(
  tx: Tx,
  { networks, now, limit }: { networks: readonly string[]; now: Date; limit: number },
): Promise<PayablePayout[]> {
  const isPayable = tx`p.state = 'held' and p.network = any(${networks as string[]}::text[])
    and (p.retry_at is null or p.retry_at <= ${now} or p.destination is distinct from c.destination)
    and lower(c.destination) <> lower(p.network || ':' || p.account)
    and c.held_from <= ${now} and not ${isPayoutStopped(tx)}`;
  const found = await tx<{ id: string }[]>`
    select p.payment_id as id
    from payouts p join crypto_settlements c on c.merchant_id = p.merchant_id and c.asset = p.asset
    where ${isPayable} order by p.payment_id limit ${limit}`;
  if (found.length === 0) return [];
  const locked = await tx<{ id: string }[]>`
    select payment_id as id from payouts where payment_id = any(${found.map(({ id }) => id)}::text[]) and state = 'held'
    order by payment_id for update skip locked`;
  // Read again under the locks: the amount, its destination or a freeze may have changed meanwhile.
  const rows = await tx<(PayablePayout & Omit<StoredDestination, 'id'> & { readonly settlementId: string })[]>`
    select ${payoutColumns(tx)}, c.id as "settlementId", c.destination, c.pending_destination as "pendingDestination",
      c.effective_at as "effectiveAt", c.held_from as "heldFrom", c.mac, c.number::text as number,
      ${lastNumber(tx, tx`c`)}::text as "lastNumber"
    from payouts p join crypto_settlements c on c.merchant_id = p.merchant_id and c.asset = p.asset
    where p.payment_id = any(${locked.map(({ id }) => id)}::text[]) and ${isPayable}
    order by p.payment_id`;
  return rows.map(
    ({ settlementId: id, pendingDestination, effectiveAt, heldFrom, mac, number, lastNumber: last, ...payout }) => {
      const { merchantId, asset, destination } = payout;
      const terms = { destination, pendingDestination, effectiveAt, heldFrom };
      return { ...payout, settlement: { id, merchantId, asset, ...terms, mac, number, lastNumber: last } };
    },
  );
}

/** Marks held amounts as sent to these destinations. */
export async function startPayouts(
  tx: Tx,
  payouts: readonly Pick<PayablePayout, 'paymentId' | 'destination'>[],
  at: Date,
): Promise<void> {
  const rows = payouts.map(({ paymentId, destination }) => ({ paymentId, destination }));
  await tx`
    update payouts p set state = 'sending', destination = s.destination, problem = null, retry_at = null, updated_at = ${at}
    from jsonb_to_recordset(${tx.json(rows as never)}) as s("paymentId" text, destination text)
    where p.payment_id = s."paymentId" and p.state = 'held'`;
}

/** The units of a payment that are still held. The row is locked, so that no payout takes them meanwhile. */
export async function lockHeld(tx: Tx, paymentId: string): Promise<bigint> {
  const [row] = await tx<{ amount: string }[]>`
    select amount from payouts where payment_id = ${paymentId} and state = 'held' for update`;
  return BigInt(row?.amount ?? '0');
}

/** Takes units of a held amount for a refund. The last ones leave nothing to pay out. The caller has locked the row. */
export async function takeForRefund(
  tx: Tx,
  { paymentId, units, at }: { paymentId: string; units: bigint; at: Date },
): Promise<void> {
  if (units === 0n) return;
  const taken = units.toString();
  const { count } = await tx`
    update payouts
    set state = case when amount = ${taken}::numeric then 'refunding' else state end,
      amount = case when amount = ${taken}::numeric then amount else amount - ${taken}::numeric end, updated_at = ${at}
    where payment_id = ${paymentId} and state = 'held' and amount >= ${taken}::numeric`;
  if (count !== 1) throw new Error('A held amount is smaller than the part that a refund takes.');
}

/** Gives units back that a refund has taken. False if the rest was paid out meanwhile, and nothing is held any more. */
export async function giveBackHeld(
  tx: Tx,
  { paymentId, units, at }: { paymentId: string; units: bigint; at: Date },
): Promise<boolean> {
  if (units === 0n) return true;
  const { count } = await tx`
    update payouts
    set state = 'held', updated_at = ${at},
      amount = case when state = 'held' then amount else 0 end + ${units.toString()}::numeric
    where payment_id = ${paymentId} and state in ('held', 'refunding')`;
  return count === 1;
}

/**
 * Ends a held amount that refunds have taken whole, when the last of them has arrived. The lock comes first: of two
 * refunds that arrive at the same moment, the second must see the first.
 */
export async function endRefundedHeld(tx: Tx, { paymentId, at }: { paymentId: string; at: Date }): Promise<void> {
  await tx`select from payouts where payment_id = ${paymentId} for update`;
  await tx`
    update payouts set state = 'refunded', updated_at = ${at}
    where payment_id = ${paymentId} and state = 'refunding'
      and not exists (select from refunds r where r.payment_id = ${paymentId} and r.from_held > 0 and r.state <> 'refunded')`;
}

/** Changes the state of a held amount. */
export async function setPayoutState(
  tx: Tx,
  { paymentId, from, to, at }: { paymentId: string; from: Payout['state']; to: Payout['state']; at: Date },
): Promise<void> {
  await tx`update payouts set state = ${to}, updated_at = ${at} where payment_id = ${paymentId} and state = ${from}`;
}

/** Puts an amount that did not arrive back to held. */
export async function holdAgain(
  tx: Tx,
  { paymentId, problem, retryAt, at }: { paymentId: string; problem: string; retryAt: Date; at: Date },
): Promise<void> {
  await tx`
    update payouts set state = 'held', problem = ${problem}, retry_at = ${retryAt}, updated_at = ${at}
    where payment_id = ${paymentId} and state = 'sending'`;
}

/** The destination (CAIP-10) in force for a held amount. Undefined if the merchant has none. */
export async function findPayoutDestination(db: Reader, paymentId: string): Promise<string | undefined> {
  const [row] = await db<{ destination: string }[]>`
    select c.destination from payouts p
    join crypto_settlements c on c.merchant_id = p.merchant_id and c.asset = p.asset
    where p.payment_id = ${paymentId}`;
  return row?.destination;
}

export async function findPayout(db: Reader, paymentId: string): Promise<Payout | undefined> {
  const [row] = await db<Payout[]>`select ${payoutColumns(db)} from payouts p where p.payment_id = ${paymentId}`;
  return row;
}

function payoutColumns(db: Reader) {
  return db`p.payment_id as "paymentId", p.merchant_id as "merchantId", p.network, p.asset, p.method, p.account, p.amount,
    p.state, p.problem`;
}
