import type { Reader } from '../plumbing/database.ts';
import { listMovements, type StoredMovement } from './movements.ts';
import { sumsAt } from './place-checkpoints.ts';

/** The money at a deposit address as the payer sees it, at any depth. One endpoint has reported it, so it proves nothing. */
export interface DepositProgress {
  readonly arrived: bigint;
  /**
   * The number of confirmations of the block in which enough money had arrived, counting that block. 0 while some money is missing. The
   * number may be too high once the money is final: final dust is stored as one sum, with the block of its first transfer.
   */
  readonly confirmed: number;
}

interface DepositAsk {
  readonly commitment: string;
  readonly network: string;
  readonly asset: string;
  readonly deadline: Date;
}

export async function findDepositProgress(
  db: Reader,
  { commitment, network, asset, deadline, asked }: DepositAsk & { readonly asked: string },
): Promise<DepositProgress> {
  const [row] = await db<{ arrived: string; confirmed: string }[]>`
    select greatest(coalesce(sum(units), 0), 0)::text as arrived,
      case when sum(units) >= ${asked}::numeric then
        coalesce((select read_number from deposit_cursors where network = ${network}) + 1
          - min(block_number) filter (where total >= ${asked}::numeric), 0)
      else 0 end::text as confirmed
    from (
      select block_number, units, sum(units) over (order by block_number, log_index) as total
      from (${sumsAt(db, { network, commitment })}) known
      where asset = ${asset} and not is_screened and at <= ${deadline}
    ) counted`;
  return { arrived: BigInt(row?.arrived ?? '0'), confirmed: Math.max(0, Number(row?.confirmed ?? 0)) };
}

/** The sum of the transfers to a deposit address that count for its payment, at any depth. */
export async function sumCounting(db: Reader, { asset, deadline, ...place }: DepositAsk): Promise<bigint> {
  const [row] = await db<{ units: string }[]>`
    select coalesce(sum(units), 0)::text as units from (${sumsAt(db, place)}) known
    where asset = ${asset} and not is_screened and at <= ${deadline}`;
  return BigInt(row?.units ?? '0');
}

/** The asset of the payment's newest deposit address that has received money. */
export async function findPaidInto(db: Reader, paymentId: string): Promise<string | undefined> {
  const [row] = await db<{ asset: string }[]>`
    select d.asset from deposits d
    where d.payment_id = ${paymentId} and exists (
      select from movements m
      where m.commitment = d.commitment and m.network = d.network and m.asset = d.asset and not m.is_screened)
    order by d.number desc limit 1`;
  return row?.asset;
}

/** The largest proved movements that count for the payment, in the order of the chain. */
export async function listLargestMovements(
  db: Reader,
  { limit, ...ask }: DepositAsk & { readonly limit: number },
): Promise<StoredMovement[]> {
  const largest = await listMovements(db, { ...ask, limit: limit * 2 });
  return largest
    .filter(({ isProved, isScreened, source, at }) => isProved && !isScreened && source === 'log' && at <= ask.deadline)
    .slice(0, limit)
    .toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex);
}

/** The movement that completed the asked amount in time. If the amount is not complete, the last movement. */
export async function findCompleting(
  db: Reader,
  { commitment, network, asset, deadline, asked }: DepositAsk & { readonly asked: string },
): Promise<Pick<StoredMovement, 'transactionHash' | 'blockNumber' | 'sender'> | undefined> {
  const [row] = await db<{ transactionHash: string; blockNumber: string; sender: string }[]>`
    select transaction_hash as "transactionHash", block_number as "blockNumber", sender from (
      select *, sum(amount) over (order by block_number, log_index) >= ${asked}::numeric as is_enough
      from movements
      where commitment = ${commitment} and network = ${network} and asset = ${asset} and not is_screened
        and at <= ${deadline} and source = 'log'
    ) counted
    order by is_enough desc, case when is_enough then block_number else -block_number end,
      case when is_enough then log_index else -log_index end limit 1`;
  return row && { ...row, blockNumber: Number(row.blockNumber) };
}

/** True if an account on the screening list has sent this asset to a deposit address of the payment. */
export async function hasScreenedMovement(
  db: Reader,
  { paymentId, network, asset }: { paymentId: string; network: string; asset: string },
): Promise<boolean> {
  const rows = await db`
    select from movements
    where payment_id = ${paymentId} and network = ${network} and asset = ${asset} and is_screened limit 1`;
  return rows.length > 0;
}

/** The last transfer with this sender and amount to a deposit address, at any depth. */
export async function findTransferOf(
  db: Reader,
  ask: { network: string; commitment: string; asset: string; sender: string; amount: bigint },
): Promise<Pick<StoredMovement, 'transactionHash'> | undefined> {
  const [row] = await db<{ transactionHash: string }[]>`
    select transaction_hash as "transactionHash" from movements
    where network = ${ask.network} and commitment = ${ask.commitment} and asset = ${ask.asset} and sender = ${ask.sender}
      and amount = ${ask.amount.toString()} and not is_screened and source = 'log'
    order by block_number desc, log_index desc limit 1`;
  return row;
}

/** True if the transfers to one of the payment's deposit addresses are enough to pay it, at any depth. */
export async function isPaidInto(db: Reader, paymentId: string): Promise<boolean> {
  const rows = await db`
    select from deposits d join items i on i.commitment = d.item
    where d.payment_id = ${paymentId} and i.amount <= (
      select sum(m.units) from (${sumsAt(db, { network: db`d.network`, commitment: db`d.commitment` })}) m
      where m.asset = d.asset and not m.is_screened and m.at <= i.deadline)`;
  return rows.length > 0;
}
