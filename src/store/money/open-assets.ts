import { INTERMEDIATE } from '../../domain/books.ts';
import type { Reader } from '../plumbing/database.ts';

/** The number of open rows of one kind for an asset. Kinds are open payments, held money and others. */
export interface OpenAsset {
  /** The asset as a CAIP-19 id. */
  readonly asset: string;
  readonly kind: OpenKind;
  /** The number of open rows. For balances, the number of book accounts that are not zero. */
  readonly count: number;
}

export type OpenKind = 'payments' | 'transfers' | 'refunds' | 'held' | 'unexpected' | 'balances';

/**
 * The open payments, transfers, refunds and money of every asset. They are read from the rows, because the gateway may no longer have a
 * record of the asset. Each part reads an index that contains open rows only.
 */
export async function findOpenAssets(db: Reader): Promise<OpenAsset[]> {
  return db<OpenAsset[]>`
    select asset, kind, sum(count)::int as count from (
      select token_asset as asset, 'payments' as kind, count(*) as count from payments
      where status = 'requires_action' and native_deadline is null and token_asset is not null group by 1
      union all
      select token_asset, 'payments', count(*) from payments
      where status = 'requires_action' and native_deadline is not null and token_asset is not null group by 1
      union all
      select asset, case when purpose in ('payment', 'sweep') then 'payments' else 'transfers' end, count(*) from items
      where state in ('offered', 'due', 'sent') group by 1, 2
      union all
      select asset, 'transfers', count(*) from outgoing where state = 'sending' and not is_due group by 1
      union all
      select asset, 'refunds', count(*) from refunds where state in ('requested', 'awaiting_funds') group by 1
      union all
      select asset, 'refunds', count(*) from refunds where state = 'failed' group by 1
      union all
      select asset, 'held', count(*) from lots where is_open group by 1
      union all
      select asset, 'unexpected', count(*) from strays where state = 'unclaimed' group by 1
      union all
      select asset, 'unexpected', count(*) from strays where state = 'requested' group by 1
      union all
      select asset, 'balances', 1 from (
        select asset, account, units from book_balances
        union all
        select b.asset, l.account, l.units
        from book_entries b, jsonb_to_recordset(b.lines) as l(account text, units numeric)
        where b.sequence is null
      ) as lines
      where starts_with(account, ${INTERMEDIATE}) or starts_with(account, 'missing/') or account in ('in_flight', 'deposits')
      group by asset, account having sum(units) <> 0
    ) as open
    group by asset, kind order by asset, kind`;
}

/**
 * True if any row of the database has an amount in this asset. The query may read whole tables. It runs only when an operator wants to
 * change the stored definition of an asset.
 */
export async function isAssetNamed(db: Reader, asset: string): Promise<boolean> {
  const [row] = await db<{ isNamed: boolean }[]>`
    select exists (select from payments where token_asset = ${asset} or amount_unit = ${`caip19/${asset}`})
      or exists (select from items where asset = ${asset})
      or exists (select from outgoing where asset = ${asset})
      or exists (select from movements where asset = ${asset})
      or exists (select from strays where asset = ${asset})
      or exists (select from book_entries where asset = ${asset})
      or exists (select from payment_links where amount_unit = ${`caip19/${asset}`})
      or exists (select from fees where fixed @> ${db.json([{ unit: `caip19/${asset}` }])}) as "isNamed"`;
  return row?.isNamed === true;
}

/** True if any row of the database names the network or an asset of it. The query may read whole tables. */
export async function isNetworkNamed(db: Reader, network: string): Promise<boolean> {
  const assets = `${network}/`;
  const [row] = await db<{ isNamed: boolean }[]>`
    select exists (select from payments where starts_with(token_asset, ${assets}))
      or exists (select from items where network = ${network})
      or exists (select from outgoing where network = ${network})
      or exists (select from strays where network = ${network})
      or exists (select from book_entries where network = ${network})
      or exists (select from payment_links where starts_with(amount_unit, ${`caip19/${assets}`})) as "isNamed"`;
  return row?.isNamed === true;
}
