import type { Reader } from '../plumbing/database.ts';
import type { SendLimits } from './due-items.ts';

/** In the smallest unit of the coin. */
export interface GasCost {
  readonly all: bigint;
  /** The cost of transactions in the lane of isolated items. */
  readonly isolated: bigint;
}

/** The cost of a network's transactions since that time. A transaction that is not final counts with its highest possible cost. */
export async function gasCostSince(db: Reader, { network, since }: { network: string; since: Date }): Promise<GasCost> {
  const [row] = await db<{ all: string; isolated: string }[]>`
    select coalesce(sum(cost), 0) as all, coalesce(sum(cost) filter (where lane = 'apart'), 0) as isolated
    from (
      select s.lane, coalesce(s.coin_spent, (
        select max(v.gas_limit * v.max_fee) from send_versions v
        where v.network = s.network and v.signer = s.signer and v.nonce = s.nonce)) as cost
      from sends s where s.network = ${network} and s.created_at > ${since}
    ) costs`;
  return { all: BigInt(row?.all ?? 0), isolated: BigInt(row?.isolated ?? 0) };
}

export interface PayerGas {
  readonly payer: string;
  readonly gas: bigint;
}

/** Payers of due items that used this much gas since that time, the largest first. */
export async function findPayersAbove(
  db: Reader,
  { network, since, gas }: { network: string; since: Date; gas: bigint },
): Promise<PayerGas[]> {
  const rows = await db<{ payer: string; gas: string }[]>`
    select payer, gas
    from (select distinct payer from items where network = ${network} and state = 'due' and purpose = 'payment') due,
      lateral (
        select sum(gas_spent) as gas from items spent
        where spent.network = ${network} and spent.payer = due.payer and spent.purpose = 'payment'
          and spent.accepted_at > ${since}
      ) hour
    where gas >= ${gas.toString()} order by gas desc`;
  return rows.map((row) => ({ payer: row.payer, gas: BigInt(row.gas) }));
}

/** Items that reached a limit. They are not sent again and wait for their deadline. */
export interface ExhaustedItems {
  readonly count: number;
  /** The subject, failures and gas of the most expensive item. */
  readonly subject: string;
  readonly failures: number;
  readonly gas: bigint;
}

export async function findExhaustedItems(
  db: Reader,
  { network, limits }: { network: string; limits: SendLimits },
): Promise<ExhaustedItems | undefined> {
  const isCostly = limits.gas === undefined ? db`false` : db`gas_spent >= ${limits.gas.toString()}`;
  const [row] = await db<{ count: number; subject: string; failures: number; gas: string }[]>`
    select count(*) over ()::int as count, subject, failures, gas_spent as gas from items
    where network = ${network} and state = 'due' and (failures >= ${limits.failures} or ${isCostly})
    order by gas_spent desc limit 1`;
  return row && { ...row, gas: BigInt(row.gas) };
}
