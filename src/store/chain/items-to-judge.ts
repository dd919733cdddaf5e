import type { ItemKey } from '../../domain/item.ts';
import type { Reader } from '../plumbing/database.ts';
import { itemColumns, type StoredItem } from './items.ts';

export interface PaymentToJudge {
  readonly id: string;
  readonly merchantId: string;
}

/** The last judged payment of each merchant. The merchant whose payment was judged last is the last key. */
export type JudgedPayments = ReadonlyMap<string, string>;

/**
 * Payments to judge: those with an item on this network whose deadline passed before `finalAt`, or whose authorization a simulation
 * reported as used. Judging a payment may have to wait, so no payment may block another: partners take turns, then the merchants of a
 * partner. Partners and merchants that were judged last come last. Each merchant continues after its last judged payment.
 */
export async function findPaymentsToJudge(
  db: Reader,
  ask: { network: string; finalAt: Date; now: Date; judged: JudgedPayments; limit: number },
): Promise<PaymentToJudge[]> {
  const rows = await db<PaymentToJudge[]>`
    with judged as (
      select * from unnest(${[...ask.judged.keys()]}::text[], ${[...ask.judged.values()]}::text[])
        with ordinality as judged(merchant_id, payment_id, place)
    ), found as (
      select i.subject from items i join payments p on p.id = i.subject
      where i.network = ${ask.network} and i.state in ('offered', 'due', 'sent') and i.deadline < ${ask.finalAt}
        and i.purpose = 'payment'
        and (p.expires_at <= ${ask.now} or p.status <> 'requires_action' or ${isOutlived(db)})
      union
      select subject from items
      where network = ${ask.network} and state = 'due' and refusal = 'used' and purpose = 'payment'
    ), own as (
      select p.id, p.merchant_id as "merchantId", p.partner_id, coalesce(judged.place, 0) as place,
        row_number() over (
          partition by p.merchant_id order by p.id <= coalesce(judged.payment_id, ''), p.id) as turn
      from found join payments p on p.id = found.subject left join judged on judged.merchant_id = p.merchant_id
    )
    select id, "merchantId" from own
    order by row_number() over (partition by partner_id order by turn, place, "merchantId"),
      max(place) over (partition by partner_id), partner_id
    limit ${ask.limit}`;
  return rows;
}

/**
 * The SQL condition that the coin action `i` is open, and another open item of its payment has a later deadline. Such an action can end
 * before its payment ends.
 */
function isOutlived(db: Reader) {
  return db`i.method = 'native' and i.state = 'offered' and exists (
    select from items o where o.subject = i.subject and o.purpose = 'payment' and o.state in ('offered', 'due', 'sent')
      and (o.deadline, o.commitment) > (i.deadline, i.commitment))`;
}

/** An open item of a payout, refund or return, with the reason of its last refusal. */
export type OutgoingItem = StoredItem & { readonly refusal: string | null };

/**
 * Items of payouts, refunds and returns whose deadline passed before `finalAt`, or whose authorization a simulation found used already.
 * Offered items are included: they belong to refunds that a merchant was asked to sign. Items take turns: those with a key after `after`
 * come first.
 */
export function findOutgoingToJudge(
  db: Reader,
  { network, finalAt, after, limit }: { network: string; finalAt: Date; after: ItemKey | ''; limit: number },
): Promise<OutgoingItem[]> {
  return db<OutgoingItem[]>`
    select * from (
      select ${itemColumns(db)}, refusal from items
      where network = ${network} and purpose <> 'payment' and purpose <> 'sweep' and state in ('due', 'sent')
        and (deadline < ${finalAt} or refusal = 'used')
      union all
      select ${itemColumns(db)}, refusal from items
      where network = ${network} and purpose <> 'payment' and state = 'offered' and deadline < ${finalAt}
    ) items order by key <= ${after}, key limit ${limit}`;
}
