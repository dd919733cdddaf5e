import type { Reader } from '../plumbing/database.ts';

/** The gas that a relayer has paid within a period. */
export interface RelayerGas {
  readonly network: string;
  readonly signer: string;
  /** In the smallest unit of the coin. Transactions that are not final yet are missing. */
  readonly coin: bigint;
  /** Payments, payouts, refunds and returns that its transactions carried. */
  readonly items: number;
}

export async function gasByRelayer(
  db: Reader,
  { networks, since }: { readonly networks: readonly string[]; readonly since: Date },
): Promise<RelayerGas[]> {
  const rows = await db<{ network: string; signer: string; coin: string; items: string }[]>`
    select s.network, s.signer, coalesce(sum(s.coin_spent), 0) as coin, coalesce(sum(carried.count), 0)::text as items
    from sends s cross join lateral (
      select count(*) from send_items i where i.network = s.network and i.signer = s.signer and i.nonce = s.nonce
    ) carried
    where s.network = any(${networks as string[]}::text[]) and s.created_at > ${since} and s.state = 'final'
    group by s.network, s.signer`;
  return rows.map(({ coin, items, ...rest }) => ({ ...rest, coin: BigInt(coin), items: Number(items) }));
}
