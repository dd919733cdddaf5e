import type { ItemKey } from '../../domain/item.ts';
import type { Spend } from '../../domain/money/holding.ts';
import { payoutKeyOfLot } from '../../domain/money/money-out.ts';
import type { Lot } from '../../domain/money/terms.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

/**
 * The lots of payments, and their spends: the parts that payouts, refunds and returns have taken. A change of them needs the row lock of
 * the payment, which a database transaction takes before all other locks. Only `putLots`, `holdItems` and `unholdItems` insert or delete
 * lots.
 */

/** Stores these lots of a payment with their order, and deletes its other lots. The spends of deleted lots stay. */
export async function putLots(
  tx: Tx,
  { paymentId, merchantId }: { readonly paymentId: string; readonly merchantId: string },
  lots: readonly Lot[],
  at: Date,
): Promise<void> {
  const rows = lots.map((lot, number) => ({
    ...lot,
    number,
    payoutKey: payoutKeyOfLot(lot.id),
    amount: lot.amount.toString(),
    waiting: lot.waiting.toString(),
    fee: lot.fee.toString(),
    net: lot.net.toString(),
    owed: lot.owed.toString(),
  }));
  await tx`
    delete from lots where payment_id = ${paymentId} and id <> all(${lots.map(({ id }) => id)}::text[])`;
  if (rows.length > 0) {
    await tx`
      insert into lots (id, payment_id, merchant_id, commitment, network, asset, address, account, is_held, amount, waiting,
        fee, net, owed, is_paying, reason, is_screened, number, payout_key, held_at, updated_at)
      select l.id, ${paymentId}, ${merchantId}, l.commitment, l.network, l.asset, l.address, l.account, l."isHeld", l.amount,
        l.waiting, l.fee, l.net, l.owed, l."isPaying", l.reason, l."isScreened", l.number, l."payoutKey", ${at}::timestamptz,
        ${at}::timestamptz
      from jsonb_to_recordset(${tx.json(rows as never)}) as l(id text, commitment text, network text, asset text,
        address text, account text, "isHeld" boolean, amount numeric, waiting numeric, fee numeric, net numeric,
        owed numeric, "isPaying" boolean, reason text, "isScreened" boolean, number int, "payoutKey" text)
      on conflict (id) do update
      set amount = excluded.amount, waiting = excluded.waiting, fee = excluded.fee, net = excluded.net, owed = excluded.owed,
        is_paying = excluded.is_paying, reason = excluded.reason, is_screened = excluded.is_screened,
        number = excluded.number, updated_at = excluded.updated_at
      where (lots.amount, lots.waiting, lots.fee, lots.net, lots.owed, lots.is_paying, lots.reason, lots.is_screened,
          lots.number)
        is distinct from (excluded.amount, excluded.waiting, excluded.fee, excluded.net, excluded.owed, excluded.is_paying,
          excluded.reason, excluded.is_screened, excluded.number)`;
  }
  await refreshOpen(tx, paymentId);
}

/** The id of the first lot of an item. The last part of the id numbers the times that the item was carried out, from 0 on. */
export function itemLotId(network: string, commitment: string): string {
  return `${network}/${commitment}/0`;
}

/**
 * Inserts a lot for each held item that has just been paid. Items of deposit addresses are left out: that money becomes a lot when it
 * arrives.
 */
export async function holdItems(tx: Tx, keys: readonly ItemKey[], at: Date): Promise<void> {
  await tx`
    insert into lots (id, payment_id, merchant_id, commitment, network, asset, address, account, is_held, amount, waiting, fee,
      net, is_paying, reason, number, payout_key, is_open, held_at, updated_at)
    select l.id, p.id, p.merchant_id, i.commitment, i.network, i.asset, null, i.recipient, true, i.amount, 0, i.fee,
      i.amount - i.fee, i.end_reason is null, case when i.end_reason is null then null when p.status = 'succeeded' then 'paid_twice' else 'late' end,
      0, substr(encode(sha256(convert_to('payout ' || l.id, 'UTF8')), 'hex'), 2, 29), i.amount > i.fee, ${at}, ${at}
    from items i join payments p on p.id = i.subject,
      lateral (select i.network || '/' || i.commitment || '/0' as id) l
    where i.commitment = any(${keys as ItemKey[]}::text[]) and i.purpose = 'payment' and i.is_held and i.state = 'paid'
      and i.method not in ('deposit', 'deposit-vrs', 'deposit-bytes')
    on conflict (id) do nothing`;
}

/** Deletes the lots of items whose transaction has left the chain, and returns their payments. The spends of these lots stay, as a debt. */
export async function unholdItems(tx: Tx, commitments: readonly string[]): Promise<string[]> {
  const rows = await tx<{ paymentId: string }[]>`
    delete from lots where commitment = any(${commitments as string[]}::text[]) and address is null
    returning payment_id as "paymentId"`;
  return [...new Set(rows.map(({ paymentId }) => paymentId))];
}

export interface StoredLot extends Lot {
  readonly merchantId: string;
}

/** The lots of these payments, by payment and in their stored order. */
export async function findLotsOf(db: Reader, paymentIds: readonly string[]): Promise<StoredLot[]> {
  const rows = await db<LotRow[]>`
    select ${lotColumns(db)} from lots l where l.payment_id = any(${paymentIds as string[]}::text[])
    order by l.payment_id, l.number, l.id`;
  return rows.map(readLot);
}

/**
 * The lots whose payouts have this key. The key is the part of a payout's id that is computed from its lot (`payoutKeyOf`). A lot that
 * grows by dust after its payout gets another payout, with the same key.
 */
export async function findLotsByPayout(db: Reader, payoutKey: string): Promise<StoredLot[]> {
  const rows = await db<LotRow[]>`select ${lotColumns(db)} from lots l where l.payout_key = ${payoutKey}`;
  return rows.map(readLot);
}

/** The parts that payouts, refunds and returns have taken from the lots of these payments. */
export async function findSpendsOf(db: Reader, paymentIds: readonly string[]): Promise<Spend[]> {
  const rows = await db<(Omit<Spend, 'amount'> & { readonly units: string })[]>`
    select s.order_id as "order", s.purpose, s.lot_id as lot, s.payment_id as payment, s.network, s.asset, s.account,
      s.units::text as units, coalesce(o.state = 'paid', true) as "isDone"
    from lot_spends s left join outgoing o on o.id = s.order_id
    where s.payment_id = any(${paymentIds as string[]}::text[]) order by s.order_id, s.lot_id`;
  return rows.map(({ units, ...spend }) => ({ ...spend, amount: BigInt(units) }));
}

/** Stores the parts that orders take from lots. The caller has locked the payments, and has checked that each lot has enough left. */
export async function insertSpends(tx: Tx, spends: readonly Omit<Spend, 'isDone'>[]): Promise<void> {
  if (spends.length === 0) return;
  const rows = spends.map((spend) => ({ ...spend, units: spend.amount.toString(), amount: undefined }));
  await tx`
    insert into lot_spends (order_id, lot_id, purpose, payment_id, network, asset, account, units)
    select s."order", s.lot, s.purpose, s.payment, s.network, s.asset, s.account, s.units
    from jsonb_to_recordset(${tx.json(rows as never)}) as s("order" text, lot text, purpose text, payment text, network text,
      asset text, account text, units numeric)`;
  for (const payment of new Set(spends.map(({ payment: id }) => id))) await refreshOpen(tx, payment);
}

/** Deletes the spends of an order that nobody can execute any more, and returns the sum of their units. */
export async function deleteSpends(tx: Tx, order: string): Promise<bigint> {
  const rows = await tx<{ payment: string; units: string }[]>`
    delete from lot_spends where order_id = ${order} returning payment_id as payment, units::text as units`;
  for (const payment of new Set(rows.map(({ payment: id }) => id))) await refreshOpen(tx, payment);
  return rows.reduce((sum, { units }) => sum + BigInt(units), 0n);
}

/**
 * Updates `is_open` of a payment's lots: true if the lot is held and has units left. Queues read this flag. Code that spends a lot computes
 * the remainder itself.
 */
async function refreshOpen(tx: Tx, paymentId: string): Promise<void> {
  await tx`
    update lots l set is_open = o.is_open
    from (
      select l.id, l.is_held and l.net > coalesce((select sum(s.units) from lot_spends s where s.lot_id = l.id), 0) as is_open
      from lots l where l.payment_id = ${paymentId}
    ) o
    where o.id = l.id and o.is_open <> l.is_open`;
}

type LotRow = Omit<StoredLot, 'amount' | 'waiting' | 'fee' | 'net' | 'owed' | 'isUnexplained'> &
  Record<'amount' | 'waiting' | 'fee' | 'net' | 'owed', string>;

/**
 * The SQL units of the fee that a sweep left at the deposit address of the lot `l`. They are part of `waiting`. A node of the previous
 * version sweeps them without changing `owed`, so `waiting` is the upper limit.
 */
export function owedOfLot(db: Reader) {
  return db`least(l.owed, l.waiting)`;
}

function lotColumns(db: Reader) {
  return db`l.id, l.payment_id as payment, l.merchant_id as "merchantId", l.commitment, l.network, l.asset, l.address,
    l.account, l.is_held as "isHeld", l.amount::text as amount, l.waiting::text as waiting, l.fee::text as fee,
    l.net::text as net, ${owedOfLot(db)}::text as owed, l.is_paying as "isPaying", l.reason, l.is_screened as "isScreened"`;
}

function readLot({ amount, waiting, fee, net, owed, ...rest }: LotRow): StoredLot {
  const units = { amount: BigInt(amount), waiting: BigInt(waiting), fee: BigInt(fee), net: BigInt(net) };
  return { ...rest, ...units, owed: BigInt(owed), isUnexplained: false };
}

/** The payments that have a lot of these items. A caller that changes the lots must lock the payments first. */
export async function findPaymentsOfLots(db: Reader, commitments: readonly string[]): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select distinct payment_id as id from lots
    where commitment = any(${commitments as string[]}::text[]) and address is null order by payment_id`;
  return rows.map(({ id }) => id);
}
