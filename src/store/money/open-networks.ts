import type { Reader } from '../plumbing/database.ts';

/** A network that was watched, and the kinds of work that are open on it. */
export interface OpenNetwork {
  readonly network: string;
  readonly hasItems: boolean;
  readonly hasSends: boolean;
  readonly hasOutgoing: boolean;
}

/**
 * Networks outside this list with open work: offered or accepted items, transactions that are not mined, ordered transfers. They
 * are found by rows, because a removed network is no longer in the settings.
 */
export async function findOpenNetworks(db: Reader, served: readonly string[]): Promise<OpenNetwork[]> {
  const rows = await db<OpenNetwork[]>`
    select c.network,
      exists (select from items i where i.network = c.network and i.state in ('offered', 'due', 'sent')) as "hasItems",
      exists (select from sends s where s.network = c.network and s.state = 'open') as "hasSends",
      exists (select from outgoing o where o.network = c.network and o.state = 'sending') as "hasOutgoing"
    from chain_cursors c where c.network <> all(${served as string[]}::text[]) order by c.network`;
  return rows.filter(({ hasItems, hasSends, hasOutgoing }) => hasItems || hasSends || hasOutgoing);
}
