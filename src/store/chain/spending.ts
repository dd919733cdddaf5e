import type { Reader } from '../plumbing/database.ts';
import type { SendLimits } from './due-items.ts';

/** The cost of transactions, in the smallest unit of the coin. */
export interface Cost {
  readonly all: bigint;
  /** The part of the cost that transactions in the lane of isolated items had. */
  readonly isolated: bigint;
}

/**
 * The cost of a network's transactions that were created after `since`. A transaction that is not final counts with its highest possible
 * cost.
 */
export async function costSince(db: Reader, { network, since }: { network: string; since: Date }): Promise<Cost> {
  const [row] = await db<{ all: string; isolated: string }[]>`
    select coalesce(sum(cost), 0) as all, coalesce(sum(cost) filter (where lane = 'apart'), 0) as isolated
    from (
      select s.lane, coalesce(s.coin_spent, (
        select max(coalesce(v.cost, v.gas_limit * v.price)) from relay_versions v
        where v.network = s.network and v.signer = s.signer and v.slot = s.slot)) as cost
      from relay_sends s where s.network = ${network} and s.created_at > ${since}
    ) costs`;
  return { all: BigInt(row?.all ?? 0), isolated: BigInt(row?.isolated ?? 0) };
}

export interface PayerWork {
  readonly payer: string;
  readonly work: bigint;
}

/** Payers of due items whose items since `since` used at least `work` units of execution, the largest first. */
export async function findPayersAbove(
  db: Reader,
  { network, since, work }: { network: string; since: Date; work: bigint },
): Promise<PayerWork[]> {
  const rows = await db<{ payer: string; work: string }[]>`
    select payer, work
    from (select distinct payer from items where network = ${network} and state = 'due' and purpose = 'payment') due,
      lateral (
        select sum(gas_spent) as work from items spent
        where spent.network = ${network} and spent.payer = due.payer and spent.purpose = 'payment'
          and spent.accepted_at > ${since}
      ) hour
    where work >= ${work.toString()} order by work desc`;
  return rows.map((row) => ({ payer: row.payer, work: BigInt(row.work) }));
}

/** Due items that have reached a limit. Relayers do not send them again, and they stay due until their deadline. */
export interface ExhaustedItems {
  readonly count: number;
  /** The subject of the item that has used the most execution. `failures` and `work` are those of the same item. */
  readonly subject: string;
  readonly failures: number;
  readonly work: bigint;
}

export async function findExhaustedItems(
  db: Reader,
  { network, limits }: { network: string; limits: SendLimits },
): Promise<ExhaustedItems | undefined> {
  const isCostly = limits.work === undefined ? db`false` : db`gas_spent >= ${limits.work.toString()}`;
  const [row] = await db<{ count: number; subject: string; failures: number; work: string }[]>`
    select count(*) over ()::int as count, subject, failures, gas_spent as work from items
    where network = ${network} and state = 'due' and (failures >= ${limits.failures} or ${isCostly})
    order by gas_spent desc limit 1`;
  return row && { ...row, work: BigInt(row.work) };
}
