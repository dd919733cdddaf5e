import type { Reader, Tx } from '../plumbing/database.ts';
import type { DepositPlace } from './deposit-places.ts';
import { type MovementRow, movementColumns, readMovement, type StoredMovement } from './movements.ts';

/**
 * Queries for the movements of deposit addresses. They read a bounded number of rows, however many transfers of dust somebody has sent.
 * A checkpoint has the movements of an address up to a time, with the dust added up; the rest is read one by one. Checkpoints follow
 * from the movements and sweeps alone. A trigger deletes the checkpoint of a movement that is changed, so code that writes movements
 * does not know of them. A checkpoint is used only while its number of sweeps is that of the address.
 */

type Place = Pick<DepositPlace, 'network' | 'commitment'>;

/** A movement, or a sum of dust movements, which has the key of the first of them. */
export interface SummedMovement extends StoredMovement {
  /** The amount of the first movement. It alone decides whether a sum is dust: many dust transfers together exceed the limit. */
  readonly first: string;
}

/** For each asset, the amount below which a movement is dust. */
export type DustLimits = Readonly<Record<string, bigint>>;

/**
 * The proved movements of a payment on all networks, ordered by block time, network, block and log index. Consecutive movements
 * below `dustBelow` at one address, with no sweep between them, become one movement with the key of the first, because anybody may
 * send a hundred thousand of them.
 */
export async function listProvedMovements(
  db: Reader,
  paymentId: string,
  dustBelow: DustLimits = {},
): Promise<SummedMovement[]> {
  const limits = limitsJson(db, dustBelow);
  const movements = db`
    ${checkpointed(db)} where c.payment_id = ${paymentId} and c.dust_below <@ ${limits} and ${hasItsSweeps(db)}
    union all
    select ${single(db, limits)} from deposit_places p
    left join place_checkpoints c
      on c.network = p.network and c.commitment = p.commitment and c.dust_below <@ ${limits} and ${hasItsSweeps(db)}
    cross join lateral (
      select m.ctid as place, * from movements m
      where m.network = p.network and m.commitment = p.commitment and m.at > coalesce(c.up_to, '-infinity') and m.is_proved
      offset 0
    ) m
    where p.payment_id = ${paymentId}`;
  const rows = await db<(MovementRow & { readonly units: string })[]>`
    select ${movementColumns(db)}, units::text as units from (${addUp(db, movements)}) summed
    order by at, network, block_number, log_index`;
  return rows.map(({ units, ...row }) => ({ ...readMovement({ ...row, amount: units }), first: row.amount }));
}

/** The assets of the proved movements of a payment, on all networks. */
export async function listMovedAssets(db: Reader, paymentId: string): Promise<string[]> {
  const rows = await db<{ asset: string }[]>`
    select jsonb_object_keys(dust_below) as asset from place_checkpoints where payment_id = ${paymentId}
    union
    select m.asset from deposit_places p
    left join place_checkpoints c on c.network = p.network and c.commitment = p.commitment
    cross join lateral (
      select m.asset from movements m
      where m.network = p.network and m.commitment = p.commitment and m.at > coalesce(c.up_to, '-infinity') and m.is_proved
      offset 0
    ) m
    where p.payment_id = ${paymentId} order by asset`;
  return rows.map(({ asset }) => asset);
}

/** The totals that Transfer logs show for a deposit address up to a block, by asset. */
export async function sumMovements(
  db: Reader,
  { upTo, ...place }: Place & { readonly upTo: number },
): Promise<Map<string, bigint>> {
  const rows = await db<{ asset: string; units: string }[]>`
    select asset, sum(units)::text as units from (${sumsAt(db, place, upTo)}) known
    where block_number <= ${upTo} and source = 'log' group by asset`;
  return new Map(rows.map(({ asset, units }) => [asset, BigInt(units)]));
}

/** True if at least `count` proved movements have come since the checkpoint of the address. An outdated checkpoint does not count. */
export async function isCheckpointDue(db: Reader, { network, commitment }: Place, count: number): Promise<boolean> {
  const rows = await db`
    select from movements
    where network = ${network} and commitment = ${commitment} and is_proved
      and at > ${lastTime(db, { network, commitment }, hasItsSweeps(db))}
    limit ${count}`;
  return rows.length >= count;
}

/**
 * Adds up the proved movements of an address, up to the first unproved one, and stores them as its checkpoint. The database transaction
 * must have changed the row of the address before: writers of movements wait for that row. `dustBelow` must contain all assets of
 * `listMovedAssets`.
 */
export async function putCheckpoint(tx: Tx, { network, commitment, paymentId }: DepositPlace, dustBelow: DustLimits) {
  const limits = limitsJson(tx, dustBelow);
  await tx`
    delete from place_checkpoints c
    where c.network = ${network} and c.commitment = ${commitment} and (c.dust_below <@ ${limits} and ${hasItsSweeps(tx)}) is not true`;
  const since = lastTime(tx, { network, commitment });
  const movements = tx`
    ${checkpointed(tx)} where c.network = ${network} and c.commitment = ${commitment}
    union all
    select ${single(tx, limits)} from (
      select m.ctid as place, * from movements m
      where m.network = ${network} and m.commitment = ${commitment} and m.at > ${since} and m.at <= last.up_to
    ) m`;
  await tx`
    insert into place_checkpoints (network, commitment, payment_id, up_to, block_number, dust_below, sums, sweeps, sweeps_up_to)
    select ${network}, ${commitment}, ${paymentId}, last.up_to, last.block_number, ${limits}, ${sumsOf(tx, movements)},
      (select count(*) ${sweepsOf(tx, { network, commitment })} and e.block_number <= last.block_number), last.up_to
    from (
      select max(at) as up_to, greatest(max(block_number), (
        select c.block_number from place_checkpoints c where c.network = ${network} and c.commitment = ${commitment}
      )) as block_number from movements
      where network = ${network} and commitment = ${commitment} and at > ${since} and is_proved
        and at < coalesce((
          select min(at) from movements where network = ${network} and commitment = ${commitment} and not is_proved), 'infinity')
    ) last
    where last.up_to is not null
    on conflict (network, commitment) do update
    set up_to = excluded.up_to, block_number = excluded.block_number, dust_below = excluded.dust_below, sums = excluded.sums,
      sweeps = excluded.sweeps, sweeps_up_to = excluded.sweeps_up_to`;
}

/** The addresses whose stored checkpoint is not the sum of their movements. A single statement reads both from one snapshot. */
export async function findWrongCheckpoints(
  db: Reader,
  network: string,
  limit: number,
): Promise<{ readonly address: string; readonly paymentId: string }[]> {
  const movements = db`
    select ${single(db, db`c.dust_below`)} from (
      select m.ctid as place, * from movements m
      where m.network = c.network and m.commitment = c.commitment and m.at <= c.up_to
    ) m`;
  return db`
    select p.address, c.payment_id as "paymentId" from place_checkpoints c
    join deposit_places p on p.network = c.network and p.commitment = c.commitment
    where c.network = ${network} and ${hasItsSweeps(db)} and c.sums is distinct from ${sumsOf(db, movements)}
    order by p.address limit ${limit}`;
}

/**
 * The SQL rows of all movements of an address, proved or not: the sums of its checkpoint, and each later movement. A checkpoint with blocks
 * above `upTo` is not used. A sum has the block and the time of its first movement. A `loss` has negative units, because its money is not
 * at the address.
 */
export function sumsAt(db: Reader, { network, commitment }: PlaceValues, upTo?: number) {
  const isUsed = upTo === undefined ? db`true` : db`c.block_number <= ${upTo}`;
  return db`
    select m.asset, m.source, m.is_screened, m.at, m.block_number, m.log_index,
      case when m.source = 'loss' then -s.units else s.units end as units
    from ${sumsOfCheckpoints(db)}
    where c.network = ${network} and c.commitment = ${commitment} and ${isUsed}
    union all
    select m.asset, m.source, m.is_screened, m.at, m.block_number, m.log_index,
      case when m.source = 'loss' then -m.amount else m.amount end from movements m
    where m.network = ${network} and m.commitment = ${commitment}
      and m.at > ${lastTime(db, { network, commitment }, isUsed)}`;
}

/** The key of a deposit address, as values or as columns of another table in the statement. */
type PlaceValues = Readonly<Record<keyof Place, string | ReturnType<Reader>>>;

/** The SQL time up to which the checkpoint of an address contains its movements. Without a checkpoint, it is `-infinity`. */
function lastTime(db: Reader, { network, commitment }: PlaceValues, isUsed = db`true`) {
  return db`coalesce((
    select c.up_to from place_checkpoints c where c.network = ${network} and c.commitment = ${commitment} and ${isUsed}
  ), '-infinity')`;
}

/**
 * The SQL rows of each sum of the checkpoints `c`, with its first movement `m`. `limit 1` makes PostgreSQL look up the movement by the
 * primary key, whatever the planner expects.
 */
function sumsOfCheckpoints(db: Reader) {
  return db`place_checkpoints c
    cross join lateral jsonb_to_recordset(c.sums) as s("transactionHash" text, "logIndex" int, units numeric, "isDust" boolean)
    cross join lateral (
      select m.ctid as place, * from movements m
      where m.network = c.network and m.transaction_hash = s."transactionHash" and m.log_index = s."logIndex" limit 1
    ) m`;
}

function checkpointed(db: Reader) {
  return db`select ${position(db)}, s.units, s."isDust" as is_dust from ${sumsOfCheckpoints(db)}`;
}

/** The columns of a movement `m` that is in no checkpoint. */
function single(db: Reader, limits: ReturnType<Reader>) {
  return db`${position(db)}, m.amount as units, m.amount < coalesce((${limits} ->> m.asset)::numeric, 0) as is_dust`;
}

/** The SQL columns of a movement, with its `line`: the address, asset and class, and the last sweep before it. Sums stay within a line. */
function position(db: Reader) {
  return db`m.place, m.at, m.block_number, m.log_index,
    concat_ws(' ', m.network, m.commitment, m.asset, m.is_screened, m.source,
      m.at <= (select i.deadline from items i where i.commitment = m.commitment limit 1),
      (select e.block_number || '/' || e.log_index ${sweepsOf(db, { network: db`m.network`, commitment: db`m.commitment` })}
        and e.fields ->> 'asset' = m.asset and (e.block_number, e.log_index) < (m.block_number, m.log_index)
        order by e.block_number desc, e.log_index desc limit 1)) collate "C" as line`;
}

/** The SQL `from` clause with the decided sweeps `e` of an address. The conditions are those of an index of sweeps. */
function sweepsOf(db: Reader, { network, commitment }: PlaceValues) {
  return db`
    from chain_events e
    where e.network = ${network} and e.commitment = ${commitment} and e.type = 'swept' and e.decided_at is not null
      and e.problem is null`;
}

/**
 * The SQL condition that the checkpoint `c` was made with all sweeps up to its block. A sweep that was decided later may lie between two
 * movements that were added up. A node of an older version does not count sweeps, and moves `up_to` without `sweeps_up_to`.
 */
function hasItsSweeps(db: Reader) {
  const place = { network: db`c.network`, commitment: db`c.commitment` };
  return db`c.sweeps_up_to = c.up_to and c.sweeps = (select count(*) ${sweepsOf(db, place)} and e.block_number <= c.block_number)`;
}

/**
 * The SQL rows of the movements, with consecutive dust of one `line` added up. `units` is the sum, and the other columns are those of the
 * first movement.
 */
function addUp(db: Reader, movements: ReturnType<Reader>) {
  return db`
    with known as (${movements}), ordered as (
      select place, line, is_dust, units,
        is_dust and coalesce(lag(is_dust) over movements_before, false) as goes_on,
        is_dust and coalesce(lead(is_dust) over movements_before, false) as is_followed,
        count(*) filter (where not is_dust) over movements_before as cluster,
        sum(units) over movements_before as running
      from known
      window movements_before as (
        partition by line order by at, block_number, log_index rows between unbounded preceding and current row)
    ), ends as (
      select * from ordered where not (goes_on and is_followed)
    ), summed as (
      select f.place, f.is_dust, l.running - f.running + f.units as units
      from ends f join ends l on l.line = f.line and l.cluster = f.cluster and l.is_dust = f.is_dust
      where not f.goes_on and not l.is_followed
    )
    select m.*, s.is_dust, s.units from summed s
    cross join lateral (select * from movements m where m.ctid = s.place limit 1) m`;
}

/** The SQL value of a checkpoint's column `sums` for these movements. */
function sumsOf(db: Reader, movements: ReturnType<Reader>) {
  return db`(
    select coalesce(jsonb_agg(jsonb_build_object('transactionHash', m.transaction_hash, 'logIndex', m.log_index,
        'units', m.units::text, 'isDust', m.is_dust)
      order by m.at, m.block_number, m.log_index, m.transaction_hash), '[]')
    from (${addUp(db, movements)}) m)`;
}

function limitsJson(db: Reader, dustBelow: DustLimits) {
  const limits = Object.entries(dustBelow).map(([asset, units]) => [asset, units.toString()] as const);
  return db`${db.json(Object.fromEntries(limits))}`;
}
