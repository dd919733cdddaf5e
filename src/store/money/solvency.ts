import { addressKey } from '../../domain/addresses/families.ts';
import { addressKeySql } from '../plumbing/address-key.ts';
import type { Reader, Tx } from '../plumbing/database.ts';
import { bookedParts } from './book-comparison.ts';

/** The money that we owe according to the books at the watcher's last final block. One database snapshot gives all of it. */
export interface OwedAt {
  readonly block: number;
  /** The block's hash. Undefined if the watcher no longer stores the block. */
  readonly hash: string | undefined;
  readonly assets: readonly { readonly asset: string; readonly owed: bigint; readonly missing: bigint }[];
}

/**
 * The money that we owe at the watcher's last final block, by asset: the sum of the book accounts whose money is on our accounts. A
 * transfer out of our accounts that is final on chain is no longer owed, even if it is not booked yet. An arrival that is not booked yet is
 * not owed yet. A negative book account counts as missing, and does not reduce the amounts that are owed to others.
 */
export async function owedAt(
  db: Reader,
  {
    network,
    accounts,
    prefix,
    missing,
    outgoing,
  }: {
    readonly network: string;
    readonly accounts: readonly string[];
    readonly prefix: string;
    readonly missing: string;
    /** The book account of the transfers that are in progress. */
    readonly outgoing: string;
  },
): Promise<OwedAt | undefined> {
  const own = db`(account ^@ ${prefix} or account ^@ ${missing})`;
  const [row] = await db<{ block: string; hash: string | null; assets: AssetRow[] }[]>`
    select c.final_number as block,
      (select hash from chain_blocks b where b.network = c.network and b.number = c.final_number) as hash,
      coalesce((
        select json_agg(json_build_object('asset', asset, 'owed', owed::text, 'missing', missing::text) order by asset)
        from (
          select asset, coalesce(sum(greatest(units, 0)) filter (where not account ^@ ${missing}), 0) as owed,
            coalesce(sum(units) filter (where units < 0), 0) as missing
          from (
            select asset, account, sum(units) as units
            from (
            ${bookedParts(db, { network, own, block: db`c.final_number` })}
            union all
            select i.asset, ${outgoing}, -i.amount
            from chain_events e join items i on i.commitment = e.commitment and i.network = e.network
            where e.network = ${network} and e.type = 'paid' and e.block_number <= c.final_number
              and e.decided_at is null and i.state <> 'paid'
              and ${addressKeySql(db, network, db`i.payer`)} = any(${accounts.map((account) => addressKey(network, account))}::text[])
            ) as parts group by asset, account
          ) as accounts group by asset
        ) as sums where owed <> 0 or missing <> 0
      ), '[]'::json) as assets
    from chain_cursors c where c.network = ${network}`;
  if (row === undefined) return undefined;
  const assets = row.assets.map(({ asset, owed, missing: lack }) => ({
    asset,
    owed: BigInt(owed),
    missing: BigInt(lack),
  }));
  return { block: Number(row.block), hash: row.hash ?? undefined, assets };
}

interface AssetRow {
  readonly asset: string;
  readonly owed: string;
  readonly missing: string;
}

export interface SolvencyReading {
  readonly network: string;
  readonly asset: string;
  readonly block: number;
  readonly hash: string;
  readonly owed: string;
  readonly held: string;
  readonly at: Date;
  /** The MAC that proves that the gateway wrote the row. */
  readonly mac: string;
}

/** The stored comparisons of money owed and money held on a network, the newest first. The last two of each asset are kept. */
export async function listReadings(db: Reader, network: string): Promise<SolvencyReading[]> {
  const rows = await db<(Omit<SolvencyReading, 'block'> & { block: string })[]>`
    select network, asset, block_number as block, block_hash as hash, owed::text, held::text, at, mac
    from solvency_readings where network = ${network} order by block_number desc, at desc`;
  return rows.map((row) => ({ ...row, block: Number(row.block) }));
}

/** Stores a comparison, and deletes those of blocks before `keepFrom`. Returns false if another node has stored the same comparison. */
export async function putReading(tx: Tx, reading: SolvencyReading, keepFrom: number): Promise<boolean> {
  const { network, asset, block, hash, owed, held, at, mac } = reading;
  const { count } = await tx`
    insert into solvency_readings (network, asset, block_number, block_hash, owed, held, at, mac)
    values (${network}, ${asset}, ${block}, ${hash}, ${owed}, ${held}, ${at}, ${mac})
    on conflict do nothing`;
  await tx`
    delete from solvency_readings where network = ${network} and asset = ${asset} and block_number < ${keepFrom}`;
  return count === 1;
}
