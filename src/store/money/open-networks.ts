import type { Reader } from '../plumbing/database.ts';

/** A network with a watcher's cursor, and the kinds of open rows that it has. */
export interface OpenNetwork {
  readonly network: string;
  readonly hasItems: boolean;
  readonly hasSends: boolean;
  readonly hasOutgoing: boolean;
  /** True if refunds or returns wait for the end of their cooling-off period, or for money. */
  readonly hasRequests: boolean;
  /** True if our accounts hold money of merchants on the network. */
  readonly hasMoney: boolean;
}

/**
 * Networks that are not in `served` and have open rows: offered or accepted items, relay transactions that are not mined, ordered
 * transfers, waiting refunds and returns, or money of merchants. They are found by their rows, because a removed network is no longer in
 * the settings.
 */
export async function findOpenNetworks(db: Reader, served: readonly string[]): Promise<OpenNetwork[]> {
  const rows = await db<OpenNetwork[]>`
    select c.network,
      exists (select from items i where i.network = c.network and i.state in ('offered', 'due', 'sent')) as "hasItems",
      exists (select from relay_sends s where s.network = c.network and s.state = 'open') as "hasSends",
      exists (select from outgoing o where o.network = c.network and o.state = 'sending') as "hasOutgoing",
      exists (select from refunds r where r.network = c.network and r.state in ('requested', 'awaiting_funds'))
        or exists (select from strays s where s.network = c.network and s.state = 'requested') as "hasRequests",
      exists (select from lots l where l.network = c.network and l.is_open) as "hasMoney"
    from chain_cursors c where c.network <> all(${served as string[]}::text[]) order by c.network`;
  return rows.filter(
    ({ hasItems, hasSends, hasOutgoing, hasRequests, hasMoney }) =>
      hasItems || hasSends || hasOutgoing || hasRequests || hasMoney,
  );
}
