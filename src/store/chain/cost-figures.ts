import type { Reader } from '../plumbing/database.ts';

export interface RelayerCost {
  readonly network: string;
  readonly signer: string;
  /** The cost of the relayer's final transactions, in the smallest unit of the coin. */
  readonly coin: bigint;
  /** The number of items (of payments, payouts, refunds, returns and sweeps) in the relayer's transactions. */
  readonly items: number;
}

export async function costByRelayer(
  db: Reader,
  { networks, since }: { readonly networks: readonly string[]; readonly since: Date },
): Promise<RelayerCost[]> {
  const rows = await db<{ network: string; signer: string; coin: string; items: string }[]>`
    select s.network, s.signer, coalesce(sum(s.coin_spent), 0) as coin, coalesce(sum(carried.count), 0)::text as items
    from relay_sends s cross join lateral (
      select count(*) from relay_items i where i.network = s.network and i.signer = s.signer and i.slot = s.slot
    ) carried
    where s.network = any(${networks as string[]}::text[]) and s.created_at > ${since} and s.state = 'final'
    group by s.network, s.signer`;
  return rows.map(({ coin, items, ...rest }) => ({ ...rest, coin: BigInt(coin), items: Number(items) }));
}
