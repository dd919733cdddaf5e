import { isItemStopped } from '../parties/freezes.ts';
import { one, type Reader } from '../plumbing/database.ts';
import type { OverdueWork } from './due-items.ts';

/** An item of a payment that is in a stored transaction, and whose outcome is not decided yet. */
export interface SentItem {
  readonly subject: string;
  readonly asset: string;
  readonly amount: string;
  /** The time at which the first transaction with the item was stored. */
  readonly sentAt: Date;
}

/** The sent items of a network that have waited longest, and whose first transaction was stored by `before`. */
export function findOldestSent(
  db: Reader,
  { network, before, limit }: { network: string; before: Date; limit: number },
): Promise<SentItem[]> {
  return db<SentItem[]>`
    select i.subject, i.asset, i.amount, sent.at as "sentAt"
    from items i, lateral (
      select min(s.created_at) as at from relay_items c
      join relay_sends s on s.network = c.network and s.signer = c.signer and s.slot = c.slot
      where c.commitment = i.commitment
    ) sent
    where i.network = ${network} and i.state = 'sent' and i.purpose = 'payment' and sent.at <= ${before}
    order by sent.at limit ${limit}`;
}

/**
 * Payouts, refunds and returns with an item that was accepted by `before` and is still open: their number, and the oldest. Transfers
 * that a freeze stops do not count.
 */
export async function findOldOutgoingItems(
  db: Reader,
  { network, before }: { network: string; before: Date },
): Promise<OverdueWork | undefined> {
  const [row] = await db<OverdueWork[]>`
    select count(*) over ()::int as count, subject as oldest, accepted_at as since from items
    where network = ${network} and purpose <> 'payment' and purpose <> 'sweep' and state in ('due', 'sent') and accepted_at <= ${before}
      and not ${isItemStopped(db)}
    order by accepted_at limit 1`;
  return row;
}

export interface OpenWork {
  /** The time since which the oldest `processing` payment has had that status. Null if there is none. */
  readonly oldestProcessing: Date | null;
  readonly dueItems: readonly { readonly network: string; readonly count: number }[];
}

/** Reads only open items, by partial indexes, so that the cost does not grow with the number of payments. */
export async function readOpenWork(db: Reader): Promise<OpenWork> {
  return one(
    await db<OpenWork[]>`
      select (
        select min(p.updated_at) from items i join payments p on p.id = i.subject
        where i.state in ('offered', 'due', 'sent') and i.purpose = 'payment' and p.status = 'processing'
      ) as "oldestProcessing", (
        select coalesce(json_agg(d), '[]') from (
          select network, count(*)::int as count from items where state = 'due' group by network
        ) d
      ) as "dueItems"`,
  );
}
