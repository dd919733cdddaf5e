import type { Owner } from '../../domain/money/owner.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

/** A token transfer from or to an account of ours. */
export interface AccountMovement {
  readonly transactionHash: string;
  readonly logIndex: number;
  readonly blockNumber: number;
  readonly blockHash: string;
  /** The asset as a CAIP-19 id. */
  readonly asset: string;
  readonly sender: string;
  readonly recipient: string;
  readonly amount: string;
  /**
   * The owner of the sender's side: an item, a deposit address, our own transfer, or nobody. Null if the sender is no address of ours.
   * `recipientOwner` is the owner of the recipient's side.
   */
  readonly senderOwner: Owner['is'] | null;
  readonly recipientOwner: Owner['is'] | null;
  /**
   * For a departure, the part of the amount that the operator's fees have covered. `fromFloat` is the part that the operator's float has
   * covered, and `lacking` the part that nothing covers yet.
   */
  readonly fromFees: string;
  readonly fromFloat: string;
  readonly lacking: string;
}

/** A movement as the chain shows it. If it is a departure, fees and float have not covered it yet. */
export type ReadAccountMovement = Omit<AccountMovement, 'fromFees' | 'fromFloat' | 'lacking'>;

type MovementKey = Pick<AccountMovement, 'transactionHash' | 'logIndex'>;

/** The cursor of a network: the block up to which the movements of our accounts are stored. */
export interface AccountCursor {
  readonly readTo: number;
  /** The number of reorgs so far. It changes when a reorg sets the cursor back. */
  readonly reorgs: number;
}

export async function findAccountCursor(db: Reader, network: string): Promise<AccountCursor | undefined> {
  const [row] = await db<AccountCursor[]>`
    select block_number::int as "readTo", reorgs from account_cursors where network = ${network}`;
  return row;
}

/** Stores the first cursor of a network. A cursor that is already stored stays. */
export async function beginAccountCursor(tx: Tx, network: string, readTo: number): Promise<void> {
  await tx`
    insert into account_cursors (network, block_number) values (${network}, ${readTo}) on conflict (network) do nothing`;
}

/**
 * Moves the cursor if it is still `from`. Its row stays locked until the database transaction ends, so each range of blocks is stored once.
 */
export async function moveAccountCursor(
  tx: Tx,
  network: string,
  from: AccountCursor,
  readTo: number,
): Promise<boolean> {
  const { count } = await tx`
    update account_cursors set block_number = ${readTo}
    where network = ${network} and block_number = ${from.readTo} and reorgs = ${from.reorgs}`;
  return count === 1;
}

/** Stores the first block from which the movements of accounts are read. Returns the accounts that had none. */
export async function putAccountRanges(
  tx: Tx,
  network: string,
  { accounts, fromBlock }: { readonly accounts: readonly string[]; readonly fromBlock: number },
): Promise<string[]> {
  const rows = await tx<{ address: string }[]>`
    insert into account_ranges (network, address, from_block)
    select ${network}, address, ${fromBlock} from unnest(${accounts as string[]}::text[]) as a(address)
    on conflict (network, address) do nothing returning address`;
  return rows.map(({ address }) => address);
}

/** Stores movements that were just read. Departures among them are not covered by fees or float yet. */
export async function putAccountMovements(
  tx: Tx,
  network: string,
  movements: readonly ReadAccountMovement[],
): Promise<void> {
  await tx`
    insert into account_movements (network, transaction_hash, log_index, block_number, block_hash, asset, sender, recipient, amount,
      sender_owner, recipient_owner)
    select ${network}, m."transactionHash", m."logIndex", m."blockNumber", m."blockHash", m.asset, m.sender, m.recipient, m.amount,
      m."senderOwner", m."recipientOwner"
    from jsonb_to_recordset(${tx.json(movements as never)}) as m("transactionHash" text, "logIndex" int, "blockNumber" bigint,
      "blockHash" text, asset text, sender text, recipient text, amount numeric, "senderOwner" text, "recipientOwner" text)
    on conflict do nothing`;
}

/**
 * Deletes the movements above a block, and sets the cursor back to it. Returns the deleted movements of which a side has
 * the owner `nobody`.
 */
export async function deleteAccountMovementsAbove(tx: Tx, network: string, block: number): Promise<AccountMovement[]> {
  await tx`
    update account_cursors set block_number = least(block_number, ${block}), reorgs = reorgs + 1 where network = ${network}`;
  const gone = await tx<MovementRow[]>`
    delete from account_movements where network = ${network} and block_number > ${block} returning ${columns(tx)}`;
  return gone
    .filter((row) => row.senderOwner === 'nobody' || row.recipientOwner === 'nobody')
    .map(readRow)
    .toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex);
}

/** Locks departures that are not fully covered: departures from `account` first, and among these the oldest first. */
export async function lockLacking(
  tx: Tx,
  { asset, account, limit }: { readonly asset: string; readonly account: string; readonly limit: number },
): Promise<AccountMovement[]> {
  const rows = await tx<MovementRow[]>`
    select ${columns(tx)} from account_movements
    where asset = ${asset} and lacking > 0
    order by sender <> ${account}, sender, block_number, log_index limit ${limit} for update`;
  return rows.map(readRow);
}

/**
 * Locks the movements between our accounts and these accounts that were stored before these accounts became ours: departures to them, and
 * arrivals from them, in the order of the chain. Called when an account becomes ours, so it may be slow.
 */
export async function lockMovementsWith(
  tx: Tx,
  network: string,
  accounts: readonly string[],
): Promise<AccountMovement[]> {
  const strangers = accounts as string[];
  const rows = await tx<MovementRow[]>`
    select ${columns(tx)} from account_movements
    where network = ${network} and (sender_owner = 'nobody' and recipient = any(${strangers}::text[])
      or sender = any(${strangers}::text[]) and sender_owner is null and recipient_owner is not null)
    order by block_number, log_index for update`;
  return rows.map(readRow);
}

/** Marks movements as transfers between accounts of ours. Their amounts need no cover by fees or float. */
export async function setOwn(tx: Tx, network: string, movements: readonly MovementKey[]): Promise<void> {
  await tx`
    update account_movements a
    set sender_owner = 'own', recipient_owner = 'own', from_fees = 0, from_float = 0, lacking = 0
    from jsonb_to_recordset(${tx.json(movements as never)}) as m("transactionHash" text, "logIndex" int)
    where a.network = ${network} and a.transaction_hash = m."transactionHash" and a.log_index = m."logIndex"`;
}

/** Stores which parts of a departure the operator's fees and float have paid, and which part is not covered. */
export async function setDeparted(
  tx: Tx,
  network: string,
  { transactionHash, logIndex }: MovementKey,
  parts: { readonly fromFees: bigint; readonly fromFloat: bigint; readonly lacking: bigint },
): Promise<void> {
  await tx`
    update account_movements
    set from_fees = ${`${parts.fromFees}`}, from_float = ${`${parts.fromFloat}`}, lacking = ${`${parts.lacking}`}
    where network = ${network} and transaction_hash = ${transactionHash} and log_index = ${logIndex}`;
}

export async function setLacking(tx: Tx, network: string, movement: MovementKey, lacking: bigint): Promise<void> {
  await tx`
    update account_movements set lacking = ${lacking.toString()}
    where network = ${network} and transaction_hash = ${movement.transactionHash} and log_index = ${movement.logIndex}`;
}

type MovementRow = Omit<AccountMovement, 'blockNumber'> & { readonly blockNumber: string };

function columns(db: Reader) {
  return db`transaction_hash as "transactionHash", log_index as "logIndex", block_number as "blockNumber",
    block_hash as "blockHash", asset, sender, recipient, amount::text as amount, sender_owner as "senderOwner",
    recipient_owner as "recipientOwner", from_fees::text as "fromFees", from_float::text as "fromFloat", lacking::text as lacking`;
}

const readRow = (row: MovementRow): AccountMovement => ({ ...row, blockNumber: Number(row.blockNumber) });
