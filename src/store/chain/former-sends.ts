import type { Reader, Tx } from '../plumbing/database.ts';
import type { SenderId } from './sends.ts';

/** A signer that has open sends, with their numbers and times. */
export interface OpenSender extends SenderId {
  readonly sends: number;
  /** The number of items in the signer's open transactions. */
  readonly items: number;
  readonly firstSlot: number;
  /** The time at which the first open send was stored. `until` is that of the last one. */
  readonly since: Date;
  readonly until: Date;
}

/** Every signer with open sends, even if the settings no longer contain it. */
export async function listOpenSenders(db: Reader): Promise<OpenSender[]> {
  const rows = await db<(Omit<OpenSender, 'firstSlot'> & { firstSlot: string })[]>`
    select s.network, s.signer, count(distinct s.slot)::int as sends, min(s.slot) as "firstSlot",
      min(s.created_at) as since, max(s.created_at) as until,
      count(distinct i.commitment) filter (where i.state = 'sent')::int as items
    from relay_sends s
    left join relay_items c on c.network = s.network and c.signer = s.signer and c.slot = s.slot
    left join items i on i.commitment = c.commitment
    where s.state = 'open'
    group by s.network, s.signer order by s.network, s.signer`;
  return rows.map(({ firstSlot, ...row }) => ({ ...row, firstSlot: Number(firstSlot) }));
}

/**
 * The hashes to broadcast for these signers: of each open slot the version with the highest fee whose bytes are stored. Signers take
 * turns, the lowest slots first.
 */
export function listFormerVersions(
  db: Reader,
  { network, signers, limit }: { network: string; signers: readonly string[]; limit: number },
): Promise<{ hash: string }[]> {
  return db<{ hash: string }[]>`
    select v.hash from relay_sends s, lateral (
      select hash from relay_versions v
      where v.network = s.network and v.signer = s.signer and v.slot = s.slot
      order by v.bytes = '', v.price desc, v.created_at desc limit 1
    ) v
    where s.network = ${network} and s.signer = any(${signers as string[]}::text[]) and s.state = 'open'
    order by row_number() over (partition by s.signer order by s.slot), s.signer limit ${limit}`;
}

/**
 * Makes items due again that are only in open transactions of these former signers, stored before `before`. If such a transaction is mined
 * later, nothing is paid twice, because a commitment can be used only once. Items in coin stay as they are: only a transaction of their own
 * account can pay them.
 */
export async function releaseStranded(
  tx: Tx,
  { network, signers, before }: { network: string; signers: readonly string[]; before: Date },
): Promise<number> {
  const { count } = await tx`
    update items i set state = 'due', retry_at = null
    where i.network = ${network} and i.state = 'sent' and i.method <> 'native'
      and exists (${carrying(tx)} and s.signer = any(${signers as string[]}::text[]) and s.created_at <= ${before})
      and not exists (${carrying(tx)} and (s.signer <> all(${signers as string[]}::text[]) or s.created_at > ${before}))
      and not exists (select from chain_events e where e.commitment = i.commitment and e.type = 'paid')`;
  return count;
}

/**
 * Gives up all open sends of a former signer, if all were stored before `before` and none has an item that it could still pay. A send that
 * was given up is final and has no cost, because no block uses its slot. Returns the number of sends that were given up.
 */
export async function giveUpSends(
  tx: Tx,
  { network, signer }: SenderId,
  { before }: { readonly before: Date },
): Promise<number> {
  const { count } = await tx`
    update relay_sends set state = 'final'
    where network = ${network} and signer = ${signer} and state = 'open'
      and not exists (
        select from relay_sends s
        left join relay_items c on c.network = s.network and c.signer = s.signer and c.slot = s.slot
        left join items i on i.commitment = c.commitment
        where s.network = ${network} and s.signer = ${signer} and s.state = 'open'
          and (s.created_at > ${before} or i.state = 'sent'))`;
  return count;
}

/** The largest number of sends of a signer that one call reopens. A signer never has so many in flight. */
const MAX_GIVEN_UP = 1_000;

/** The SQL condition that the send `s` was given up: it is final, but no transaction of ours or of others has used its slot. */
export function isGivenUp(db: Reader) {
  return db`s.state = 'final' and s.final_hash is null and s.work_spent is null`;
}

/** The signers with sends that were given up. A signer uses its slots in order, so it is enough to look at each signer's last send. */
export async function listGivenUpSigners(db: Reader, network: string): Promise<string[]> {
  const rows = await db<{ signer: string }[]>`
    with recursive signers as (
      (select signer from relay_sends where network = ${network} order by signer limit 1)
      union all
      select (select n.signer from relay_sends n where n.network = ${network} and n.signer > r.signer order by n.signer limit 1)
      from signers r where r.signer is not null
    )
    select r.signer from signers r, lateral (
      select s.state, s.final_hash, s.work_spent from relay_sends s
      where s.network = ${network} and s.signer = r.signer order by s.slot desc limit 1
    ) s
    where ${isGivenUp(db)} order by r.signer`;
  return rows.map(({ signer }) => signer);
}

/** Reopens sends below this slot that were given up, because the chain shows that their slots are used. Returns their number. */
export async function reopenGivenUp(tx: Tx, { network, signer }: SenderId, below: number): Promise<number> {
  const { count } = await tx`
    update relay_sends s set state = 'open'
    where s.network = ${network} and s.signer = ${signer} and s.slot < ${below} and ${isGivenUp(tx)}
      and s.slot in (
        select slot from relay_sends where network = ${network} and signer = ${signer}
        order by slot desc limit ${MAX_GIVEN_UP})`;
  return count;
}

/** The SQL query for the open sends that contain the item `i`. */
function carrying(db: Reader) {
  return db`select from relay_items c join relay_sends s on s.network = c.network and s.signer = c.signer and s.slot = c.slot
    where c.commitment = i.commitment and s.state = 'open'`;
}
