import type { Reader, Tx } from '../plumbing/database.ts';

/** A transfer to a deposit address. */
export interface DepositTransfer {
  readonly transactionHash: string;
  readonly logIndex: number;
  readonly blockNumber: number;
  readonly blockHash: string;
  /** The time of its block. */
  readonly at: Date;
  readonly commitment: string;
  readonly asset: string;
  readonly sender: string;
  readonly amount: string;
  readonly isScreened: boolean;
}

/** The blocks up to which transfers were read: near the head, and at final depth. */
export interface DepositCursor {
  readonly readNumber: number;
  readonly finalNumber: number;
}

export async function findDepositCursor(db: Reader, network: string): Promise<DepositCursor | undefined> {
  const [row] = await db<{ read: string; final: string }[]>`
    select read_number as read, final_number as final from deposit_cursors where network = ${network}`;
  return row && { readNumber: Number(row.read), finalNumber: Number(row.final) };
}

export async function putDepositCursor(tx: Tx, network: string, cursor: DepositCursor): Promise<void> {
  const { readNumber, finalNumber } = cursor;
  await tx`
    insert into deposit_cursors (network, read_number, final_number) values (${network}, ${readNumber}, ${finalNumber})
    on conflict (network) do update set read_number = excluded.read_number, final_number = excluded.final_number`;
}

/**
 * Stores transfers, and returns those that are new. The row of a transaction that moved to another block follows it. Their
 * addresses are stale from then on. Another asset than the asked one is a stray.
 */
export async function putDepositTransfers(
  tx: Tx,
  network: string,
  transfers: readonly DepositTransfer[],
  at: Date,
): Promise<Pick<DepositTransfer, 'transactionHash' | 'logIndex'>[]> {
  const added = await tx<Pick<DepositTransfer, 'transactionHash' | 'logIndex' | 'commitment' | 'asset'>[]>`
    insert into deposit_transfers (network, transaction_hash, log_index, block_number, block_hash, at, commitment, asset,
      sender, amount, is_screened)
    select distinct on (t."transactionHash", t."logIndex") ${network}, t."transactionHash", t."logIndex",
      t."blockNumber", t."blockHash", t.at, t.commitment, t.asset, t.sender, t.amount, t."isScreened"
    from jsonb_to_recordset(${tx.json(transfers as never)}) as t("transactionHash" text, "logIndex" int,
      "blockNumber" bigint, "blockHash" text, at timestamptz, commitment text, asset text, sender text, amount numeric,
      "isScreened" boolean)
    on conflict (network, transaction_hash, log_index) do update
    set block_number = excluded.block_number, block_hash = excluded.block_hash, at = excluded.at
    where deposit_transfers.block_hash <> excluded.block_hash
    returning transaction_hash as "transactionHash", log_index as "logIndex", commitment, asset`;
  if (added.length > 0) await markMoved(tx, { network, moved: added, at });
  return added;
}

async function markMoved(
  tx: Tx,
  { network, moved, at }: { network: string; moved: readonly { commitment: string; asset: string }[]; at: Date },
): Promise<void> {
  const places = new Map(moved.map(({ commitment, asset }) => [`${commitment} ${asset}`, { commitment, asset }]));
  await tx`
    with moved as (
      select m.commitment, m.asset, d.asset = m.asset as "isAsked"
      from jsonb_to_recordset(${tx.json([...places.values()])}) as m(commitment text, asset text)
      join deposits d on d.commitment = m.commitment
    ), strays as (
      insert into deposit_strays (commitment, network, asset, found_at)
      select commitment, ${network}, asset, ${at}::timestamptz from moved where not "isAsked"
      on conflict (commitment, network, asset) do update set is_stale = true
    )
    update deposits set is_stale = true where commitment in (select commitment from moved where "isAsked")`;
}

/** Deletes transfers of blocks that left the chain. Their addresses are looked at again. */
export async function deleteDepositTransfersAbove(tx: Tx, network: string, number: number): Promise<void> {
  await tx`
    with gone as (
      delete from deposit_transfers where network = ${network} and block_number > ${number} returning commitment
    ), strays as (
      update deposit_strays set is_stale = true
      where network = ${network} and (commitment in (select commitment from gone) or checked_block > ${number})
    )
    update deposits set is_stale = true
    where commitment in (select commitment from gone) or network = ${network} and checked_block > ${number}`;
  await tx`
    update deposit_cursors
    set read_number = least(read_number, ${number}), final_number = least(final_number, ${number})
    where network = ${network}`;
}

/** The largest transfers of an asset to a deposit address. Anybody may send thousands of small ones. */
export async function listDepositTransfers(
  db: Reader,
  { commitment, asset, limit }: { commitment: string; asset: string; limit: number },
): Promise<DepositTransfer[]> {
  const rows = await db<TransferRow[]>`
    select ${transferColumns(db)} from deposit_transfers where commitment = ${commitment} and asset = ${asset}
    order by amount desc, block_number, log_index limit ${limit}`;
  return rows.map(readTransfer);
}

/** The last transfer of that sender and amount to a deposit address, in a block of any depth. */
export async function findTransferOf(
  db: Reader,
  ask: { network: string; commitment: string; asset: string; sender: string; amount: bigint },
): Promise<DepositTransfer | undefined> {
  const [row] = await db<TransferRow[]>`
    select ${transferColumns(db)} from deposit_transfers
    where network = ${ask.network} and commitment = ${ask.commitment} and asset = ${ask.asset} and sender = ${ask.sender}
      and amount = ${ask.amount.toString()} and not is_screened
    order by block_number desc, log_index desc limit 1`;
  return row && readTransfer(row);
}

/** The largest final transfers that count for the payment, in the order of the chain. */
export async function listLargestTransfers(
  db: Reader,
  { commitment, asset, deadline, limit }: { commitment: string; asset: string; deadline: Date; limit: number },
): Promise<DepositTransfer[]> {
  const rows = await db<TransferRow[]>`
    select * from (
      select ${transferColumns(db)} from deposit_transfers
      where commitment = ${commitment} and asset = ${asset} and not is_screened and at <= ${deadline}
        and block_number <= (select checked_block from deposits where deposits.commitment = ${commitment})
      order by amount desc, block_number, log_index limit ${limit}
    ) largest order by "blockNumber", "logIndex"`;
  return rows.map(readTransfer);
}

/** The transfer with which enough had arrived in time; the last one before, while it is too little. Screened ones do not count. */
export async function findCompletingTransfer(
  db: Reader,
  ask: { commitment: string; asset: string; deadline: Date; asked: string; upTo: number },
): Promise<DepositTransfer | undefined> {
  const [row] = await db<TransferRow[]>`
    select ${transferColumns(db)} from (
      select *, sum(amount) over (order by block_number, log_index) >= ${ask.asked}::numeric as is_enough
      from deposit_transfers
      where commitment = ${ask.commitment} and asset = ${ask.asset} and not is_screened and at <= ${ask.deadline}
        and block_number <= ${ask.upTo}
    ) counted
    order by is_enough desc, case when is_enough then block_number else -block_number end,
      case when is_enough then log_index else -log_index end limit 1`;
  return row && readTransfer(row);
}

type TransferRow = Omit<DepositTransfer, 'blockNumber'> & { readonly blockNumber: string };

function transferColumns(db: Reader) {
  return db`transaction_hash as "transactionHash", log_index as "logIndex", block_number as "blockNumber",
    block_hash as "blockHash", at, commitment, asset, sender, amount, is_screened as "isScreened"`;
}

const readTransfer = (row: TransferRow): DepositTransfer => ({ ...row, blockNumber: Number(row.blockNumber) });

/** Sums of the transfers of a deposit address in the asked asset, up to a block. */
/** True if a sender on the screening list has sent some of this money to a deposit address of the payment. */
export async function hasScreenedTransfer(
  db: Reader,
  { paymentId, network, asset }: { paymentId: string; network: string; asset: string },
): Promise<boolean> {
  const [row] = await db<{ isThere: boolean }[]>`
    select exists (
      select from deposits d join deposit_transfers t on t.commitment = d.commitment
      where d.payment_id = ${paymentId} and t.network = ${network} and t.asset = ${asset} and t.is_screened) as "isThere"`;
  return row?.isThere ?? false;
}

export interface TransferSums {
  /** In time, of senders that count. */
  readonly counted: bigint;
  readonly screened: bigint;
  /** Of senders that count, in blocks after the deadline. */
  readonly late: bigint;
}

export async function sumDepositTransfers(
  db: Reader,
  { commitment, asset, deadline, upTo }: { commitment: string; asset: string; deadline: Date; upTo: number },
): Promise<TransferSums> {
  const [row] = await db<Record<keyof TransferSums, string>[]>`
    select coalesce(sum(amount) filter (where not is_screened and at <= ${deadline}), 0)::text as counted,
      coalesce(sum(amount) filter (where is_screened), 0)::text as screened,
      coalesce(sum(amount) filter (where not is_screened and at > ${deadline}), 0)::text as late
    from deposit_transfers where commitment = ${commitment} and asset = ${asset} and block_number <= ${upTo}`;
  const { counted = '0', screened = '0', late = '0' } = row ?? {};
  return { counted: BigInt(counted), screened: BigInt(screened), late: BigInt(late) };
}

/** Transactions with late transfers of the asked asset, as one endpoint listed them: those of the largest amounts. */
export async function listLateTransactions(
  db: Reader,
  { commitment, asset, deadline, upTo, limit }: Parameters<typeof sumDepositTransfers>[1] & { readonly limit: number },
): Promise<string[]> {
  const rows = await db<{ hash: string }[]>`
    select transaction_hash as hash from deposit_transfers
    where commitment = ${commitment} and asset = ${asset} and block_number <= ${upTo} and not is_screened and at > ${deadline}
    group by transaction_hash order by sum(amount) desc, transaction_hash limit ${limit}`;
  return rows.map(({ hash }) => hash);
}

/** The money at a deposit address as the payer sees it, in blocks of any depth. One endpoint showed it: it proves nothing. */
export interface DepositProgress {
  readonly arrived: bigint;
  /** Blocks since enough has arrived, that block included. 0 while some is missing. */
  readonly confirmed: number;
}

export async function findDepositProgress(
  db: Reader,
  {
    commitment,
    network,
    asset,
    deadline,
    asked,
  }: { commitment: string; network: string; asset: string; deadline: Date; asked: string },
): Promise<DepositProgress> {
  const [row] = await db<{ arrived: string; confirmed: string }[]>`
    select coalesce(max(total), 0)::text as arrived,
      coalesce((select read_number from deposit_cursors where network = ${network}) + 1
        - min(block_number) filter (where total >= ${asked}::numeric), 0)::text as confirmed
    from (
      select block_number, sum(amount) over (order by block_number, log_index) as total from deposit_transfers
      where commitment = ${commitment} and asset = ${asset} and not is_screened and at <= ${deadline}
    ) counted`;
  return { arrived: BigInt(row?.arrived ?? '0'), confirmed: Math.max(0, Number(row?.confirmed ?? 0)) };
}

/** The asset of this payment's deposit address to which money has come, the latest one. */
export async function findPaidInto(db: Reader, paymentId: string): Promise<string | undefined> {
  const [row] = await db<{ asset: string }[]>`
    select d.asset from deposits d
    where d.payment_id = ${paymentId} and exists (
      select from deposit_transfers t where t.commitment = d.commitment and t.asset = d.asset and not t.is_screened)
    order by d.number desc limit 1`;
  return row?.asset;
}

/** True if the transfers to a deposit address of the payment are enough to pay it, in blocks of any depth. */
export async function isPaidInto(db: Reader, paymentId: string): Promise<boolean> {
  const rows = await db`
    select from deposits d join items i on i.commitment = d.commitment
    where d.payment_id = ${paymentId} and i.amount <= (
      select sum(t.amount) from deposit_transfers t
      where t.commitment = d.commitment and t.network = d.network and t.asset = d.asset and not t.is_screened
        and t.at <= i.deadline)`;
  return rows.length > 0;
}
