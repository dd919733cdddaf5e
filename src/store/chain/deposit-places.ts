import type { ItemKey } from '../../domain/item.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

/** A deposit address on one of the networks where it is watched. */
export interface DepositPlace {
  readonly network: string;
  readonly commitment: string;
  readonly address: string;
  readonly paymentId: string;
}

export interface WatchedPlace extends DepositPlace {
  readonly number: number;
  readonly openedAt: Date;
}

/** Begins to watch a deposit address on a network. */
export async function insertPlace(tx: Tx, place: DepositPlace, at: Date): Promise<void> {
  const { network, commitment, address, paymentId } = place;
  await tx`
    insert into deposit_places (network, commitment, address, payment_id, opened_at)
    values (${network}, ${commitment}, ${address}, ${paymentId}, ${at})
    on conflict (network, commitment) do nothing`;
}

/**
 * Watches a deposit address on a network where nobody watched it so far, and schedules a full check of it. Called when an operator has
 * found money there, or when somebody has swept it there. `mac` is set if an operator has released money whose sender is on the screening
 * list. Such money then no longer prevents sweeps of the address.
 */
export async function searchPlace(
  tx: Tx,
  { mac, ...place }: DepositPlace & { readonly mac: string | undefined },
  at: Date,
): Promise<void> {
  await insertPlace(tx, place, at);
  await tx`
    update deposit_places set is_searched = true, is_stale = true, is_released = is_released or ${mac !== undefined},
      release_mac = coalesce(${mac ?? null}, release_mac)
    where network = ${place.network} and commitment = ${place.commitment}`;
}

export function listPlacesOf(db: Reader, network: string, commitments: readonly string[]): Promise<DepositPlace[]> {
  return db<DepositPlace[]>`
    select network, commitment, address, payment_id as "paymentId" from deposit_places
    where network = ${network} and commitment = any(${commitments as string[]}::text[])`;
}

/** Watched addresses that were opened after `since` and have a number above `after`, in the order of numbers. */
export async function listPlaces(
  db: Reader,
  { network, after, since, limit }: { network: string; after: number; since: Date; limit: number },
): Promise<WatchedPlace[]> {
  const rows = await db<(Omit<WatchedPlace, 'number'> & { number: string })[]>`
    select number, network, commitment, address, payment_id as "paymentId", opened_at as "openedAt" from deposit_places
    where network = ${network} and number > ${after} and opened_at > ${since} order by number limit ${limit}`;
  return rows.map((row) => ({ ...row, number: Number(row.number) }));
}

/**
 * Deposit addresses whose balance may have changed since the last check. The address with the oldest check comes first, so that an address
 * whose balance cannot be explained does not block others. An address is also checked if the chain refused its sweep because
 * the balance was too low: then somebody else has swept it.
 */
export async function listPlacesToCheck(
  db: Reader,
  { network, limit }: { network: string; limit: number },
): Promise<PlaceToCheck[]> {
  return db<PlaceToCheck[]>`
    select network, commitment, address, payment_id as "paymentId", is_searched as "isSearched", opened_at as "openedAt"
    from deposit_places p
    where p.network = ${network} and (p.is_stale or p.address in (
      select s.payer from items s
      where s.network = ${network} and s.state = 'due' and s.purpose = 'sweep' and s.refusal = 'short_balance'))
    order by p.looked_at nulls first, p.number limit ${limit}`;
}

/** Deposit addresses of a payment that must be checked, because money has moved there since the last check. */
export async function listPlacesToCheckOf(
  db: Reader,
  paymentId: string,
): Promise<Pick<DepositPlace, 'network' | 'commitment'>[]> {
  return db`select network, commitment from deposit_places where payment_id = ${paymentId} and is_stale`;
}

export interface PlaceToCheck extends DepositPlace {
  readonly isSearched: boolean;
  readonly openedAt: Date;
}

export interface ReleasedPlace extends DepositPlace {
  readonly id: string;
  readonly mac: string | null;
}

/** Deposit addresses of a payment where an operator has released money whose sender is on the screening list. */
export function listReleasedPlaces(db: Reader, paymentId: string): Promise<ReleasedPlace[]> {
  return db<ReleasedPlace[]>`
    select ${releaseColumns(db)} from deposit_places p where payment_id = ${paymentId} and is_released`;
}

/** Locks a page of all released deposit addresses, ordered by id. */
export function lockReleasedPlaces(
  tx: Tx,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<ReleasedPlace[]> {
  return tx<ReleasedPlace[]>`
    select ${releaseColumns(tx)} from deposit_places p
    where is_released and network || ' ' || commitment > ${after} order by 1 limit ${limit} for no key update`;
}

function releaseColumns(db: Reader) {
  return db`network || ' ' || commitment as id, network, commitment, address, payment_id as "paymentId", release_mac as mac`;
}

export async function setReleaseMacs(tx: Tx, rows: readonly { id: string; mac: string }[]): Promise<void> {
  await tx`
    update deposit_places p set release_mac = m.mac
    from jsonb_to_recordset(${tx.json(rows)}) as m(id text, mac text)
    where p.network = split_part(m.id, ' ', 1) and p.commitment = split_part(m.id, ' ', 2)`;
}

/**
 * Money whose sender is on the screening list. It waits at an address of the payment, without an operator's release and without an open
 * sweep.
 */
export interface ListedMoney {
  readonly network: string;
  readonly asset: string;
  readonly address: string;
  readonly units: string;
  readonly since: Date;
}

export function findListedMoney(db: Reader, paymentId: string): Promise<ListedMoney[]> {
  return db<ListedMoney[]>`
    select l.network, l.asset, l.address, sum(l.waiting)::text as units, min(l.held_at) as since
    from lots l join deposit_places p on p.network = l.network and p.commitment = l.commitment
    where l.payment_id = ${paymentId} and l.is_screened and l.waiting > 0 and p.release_mac is null and not exists (
      select from items s
      where s.subject = l.payment_id and s.network = l.network and s.payer = l.address and s.asset = l.asset
        and s.purpose = 'sweep' and s.state in ('due', 'sent'))
    group by l.network, l.asset, l.address order by since, l.asset`;
}

/** Records a check that could not explain the balance of the address, so that other addresses come first in the next round. */
export async function postponePlace(tx: Tx, { network, commitment }: DepositPlace, at: Date): Promise<void> {
  await tx`update deposit_places set looked_at = ${at} where network = ${network} and commitment = ${commitment}`;
}

/**
 * Records that movements and sweeps explain the balance of the address up to `block`. If some movements are not proved yet, the address
 * must be checked again.
 */
export async function putChecked(
  tx: Tx,
  { network, commitment }: DepositPlace,
  { block, at }: { block: number; at: Date },
): Promise<void> {
  await tx`
    update deposit_places
    set checked_block = ${block}, looked_at = ${at}, is_stale = exists (
      select from movements m where m.network = ${network} and m.commitment = ${commitment} and not m.is_proved)
    where network = ${network} and commitment = ${commitment}`;
}

/** The blocks up to which the transfers to a network's deposit addresses were read: near the head, and at final depth. */
export interface DepositCursor {
  readonly readNumber: number;
  readonly finalNumber: number;
}

export async function findDepositCursor(db: Reader, network: string): Promise<DepositCursor | undefined> {
  const [row] = await db<{ read: string; final: string }[]>`
    select read_number as read, final_number as final from deposit_cursors where network = ${network}`;
  return row && { readNumber: Number(row.read), finalNumber: Number(row.final) };
}

export async function putDepositCursor(tx: Tx, network: string, cursor: DepositCursor): Promise<void> {
  const { readNumber, finalNumber } = cursor;
  await tx`
    insert into deposit_cursors (network, read_number, final_number) values (${network}, ${readNumber}, ${finalNumber})
    on conflict (network) do update set read_number = excluded.read_number, final_number = excluded.final_number`;
}

/** A sweep that was ordered for a deposit address of a payment. The sweep can be in any state. */
export interface OrderedSweep {
  readonly key: ItemKey;
  readonly network: string;
  readonly address: string;
  readonly asset: string;
  readonly state: string;
}

export async function listSweepsOf(db: Reader, paymentId: string): Promise<OrderedSweep[]> {
  return db<OrderedSweep[]>`
    select commitment as key, network, payer as address, asset, state from items
    where subject = ${paymentId} and purpose = 'sweep'`;
}

/** An executed sweep of an asset from a deposit address, with the hash of its transaction. */
export interface CarriedOutSweep {
  readonly transaction: string;
  readonly asset: string;
  readonly address: string;
  readonly paymentId: string;
}

/** Marks as paid the ordered sweeps, and the authorizations to deposit addresses, that these transactions have executed. */
export async function endSweepsBy(
  tx: Tx,
  network: string,
  sweeps: readonly CarriedOutSweep[],
  at: Date,
): Promise<void> {
  await tx`
    update items i set state = 'paid', ended_at = ${at}
    from jsonb_to_recordset(${tx.json(sweeps)}) as s(transaction text, asset text, address text, "paymentId" text)
    where i.network = ${network} and i.subject = s."paymentId" and i.asset = s.asset and i.state in ('due', 'sent')
      and (i.purpose = 'sweep' and i.payer = s.address or i.method in ('deposit-vrs', 'deposit-bytes'))
      and i.commitment in (
        select si.commitment from relay_versions v
        join relay_items si on si.network = v.network and si.signer = v.signer and si.slot = v.slot
        where v.hash = s.transaction)`;
}

/** The totals that sweeps have taken from an address up to a block, by asset. `isUndecided` is true if one of these sweeps is undecided. */
export async function sumSweeps(
  db: Reader,
  { network, commitment, upTo }: { network: string; commitment: string; upTo: number },
): Promise<{ readonly totals: ReadonlyMap<string, bigint>; readonly isUndecided: boolean }> {
  const rows = await db<{ asset: string; units: string; isUndecided: boolean }[]>`
    select fields ->> 'asset' as asset, sum((fields ->> 'amount')::numeric)::text as units,
      bool_or(decided_at is null) as "isUndecided"
    from chain_events
    where network = ${network} and commitment = ${commitment} and type = 'swept' and problem is null
      and block_number <= ${upTo}
    group by 1`;
  return {
    totals: new Map(rows.map(({ asset, units }) => [asset, BigInt(units)])),
    isUndecided: rows.some(({ isUndecided }) => isUndecided),
  };
}

/** The payment ids of deposit addresses on a network, by commitment. */
export async function findPlacePayments(
  db: Reader,
  { network, commitments }: { network: string; commitments: readonly string[] },
): Promise<Map<string, string>> {
  const rows = await db<{ commitment: string; paymentId: string }[]>`
    select commitment, payment_id as "paymentId" from deposit_places
    where network = ${network} and commitment = any(${commitments as string[]}::text[])`;
  return new Map(rows.map(({ commitment, paymentId }) => [commitment, paymentId]));
}

/** The sort key of waiting money in the order of `listWaitingAt`. */
export interface WaitingKey {
  readonly number: string;
  readonly asset: string;
}

export interface WaitingMoney extends WaitingKey {
  readonly address: string;
  readonly paymentId: string;
  readonly waiting: string;
}

/**
 * A page of the money that waits at deposit addresses, according to the lots. The newest address comes first. Addresses that are about to
 * be checked are left out.
 */
export function listWaitingAt(
  db: Reader,
  { network, after, limit }: { network: string; after: WaitingKey | undefined; limit: number },
): Promise<WaitingMoney[]> {
  const isNext = after === undefined ? db`true` : db`(p.number, l.asset) < (${after.number}::bigint, ${after.asset})`;
  return db<WaitingMoney[]>`
    select p.number::text as number, l.address, l.asset, l.payment_id as "paymentId", sum(l.waiting)::text as waiting
    from deposit_places p join lots l on l.payment_id = p.payment_id and l.network = p.network and l.address = p.address
    join positions o on o.payment_id = p.payment_id
    where p.network = ${network} and not p.is_stale and not o.is_stale and ${isNext}
    group by p.number, l.address, l.asset, l.payment_id having sum(l.waiting) > 0
    order by p.number desc, l.asset desc limit ${limit}`;
}
