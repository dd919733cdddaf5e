import type { Reader, Tx } from '../plumbing/database.ts';
import type { SenderId } from './sends.ts';

/** The open sends of one signer. */
export interface OpenSender extends SenderId {
  readonly sends: number;
  /** The number of items in the signer's open transactions. */
  readonly items: number;
  readonly since: Date;
}

/** Every signer with open sends, whether or not it is configured. */
export function listOpenSenders(db: Reader): Promise<OpenSender[]> {
  return db<OpenSender[]>`
    select s.network, s.signer, count(distinct s.slot)::int as sends, min(s.created_at) as since,
      count(distinct i.commitment) filter (where i.state = 'sent')::int as items
    from relay_sends s
    left join relay_items c on c.network = s.network and c.signer = s.signer and c.slot = s.slot
    left join items i on i.commitment = c.commitment
    where s.state = 'open'
    group by s.network, s.signer order by s.network, s.signer`;
}

/** The version with the highest fee of each open slot of these signers. Signers take turns, the lowest slots first. */
export function listFormerVersions(
  db: Reader,
  { network, signers, limit }: { network: string; signers: readonly string[]; limit: number },
): Promise<{ hash: string }[]> {
  return db<{ hash: string }[]>`
    select v.hash from relay_sends s, lateral (
      select hash from relay_versions v
      where v.network = s.network and v.signer = s.signer and v.slot = s.slot
      order by v.price desc, v.created_at desc limit 1
    ) v
    where s.network = ${network} and s.signer = any(${signers as string[]}::text[]) and s.state = 'open'
    order by row_number() over (partition by s.signer order by s.slot), s.signer limit ${limit}`;
}

/**
 * Makes items due again that are in transactions stored before that time by these former signers, and in no other open transaction.
 * A commitment can be used only once, so a late transaction of a former signer pays nothing twice. Items in coin stay, because only
 * a transaction of their own account can pay them.
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

/** The open sends that contain the item `i`. */
function carrying(db: Reader) {
  return db`select from relay_items c join relay_sends s on s.network = c.network and s.signer = c.signer and s.slot = c.slot
    where c.commitment = i.commitment and s.state = 'open'`;
}
