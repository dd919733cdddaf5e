import type { Owner } from '../../domain/money/owner.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

/** A transfer of a token from or to an account of ours. */
export interface AccountMovement {
  readonly transactionHash: string;
  readonly logIndex: number;
  readonly blockNumber: number;
  readonly blockHash: string;
  /** CAIP-19. */
  readonly asset: string;
  readonly sender: string;
  readonly recipient: string;
  readonly amount: string;
  /** The owner of each end that is a place of ours. */
  readonly senderOwner: Owner['is'] | null;
  readonly recipientOwner: Owner['is'] | null;
  /** A departure that nobody ordered: the parts that the operator's fees and float bore, and the part that is missing. */
  readonly fromFees: string;
  readonly fromFloat: string;
  readonly lacking: string;
}

/** A movement that was just read. */
export type ReadAccountMovement = Omit<AccountMovement, 'fromFees' | 'fromFloat' | 'lacking'>;

type MovementKey = Pick<AccountMovement, 'transactionHash' | 'logIndex'>;

/** The blocks of a network whose movements of our accounts are stored. */
export interface AccountCursor {
  readonly readTo: number;
  /** The number of reorganisations. */
  readonly reorgs: number;
}

export async function findAccountCursor(db: Reader, network: string): Promise<AccountCursor | undefined> {
  const [row] = await db<AccountCursor[]>`
    select block_number::int as "readTo", reorgs from account_cursors where network = ${network}`;
  return row;
}

/** Begins the cursor of a network. It stays where it is if it has begun. */
export async function beginAccountCursor(tx: Tx, network: string, readTo: number): Promise<void> {
  await tx`
    insert into account_cursors (network, block_number) values (${network}, ${readTo}) on conflict (network) do nothing`;
}

/** Moves the cursor if it is where it was found. It stays locked until the transaction ends, so each range is stored once. */
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

/** Stores the first block of accounts whose movements are read from now on, and returns those that are new. */
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

/** The first stored block of each account. */
export async function listAccountRanges(db: Reader, network: string): Promise<ReadonlyMap<string, number>> {
  const rows = await db<{ address: string; fromBlock: number }[]>`
    select address, from_block::int as "fromBlock" from account_ranges where network = ${network}`;
  return new Map(rows.map(({ address, fromBlock }) => [address, fromBlock]));
}

/** Stores movements that were just read. Nobody has borne a departure among them. */
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

/** Deletes the movements above a block, sets the cursor back, and returns those of which an end belongs to nobody. */
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

/** Locks the departures of which a part is still missing: those from this account first, and the oldest first. */
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
 * Locks the movements between our accounts and these, which were strangers then, in order: the departures that nobody ordered to
 * them, and the arrivals from them. Called when an account joins, so it may be slow.
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

/** Marks movements as transfers between accounts of ours, which nobody bears. */
export async function setOwn(tx: Tx, network: string, movements: readonly MovementKey[]): Promise<void> {
  await tx`
    update account_movements a
    set sender_owner = 'own', recipient_owner = 'own', from_fees = 0, from_float = 0, lacking = 0
    from jsonb_to_recordset(${tx.json(movements as never)}) as m("transactionHash" text, "logIndex" int)
    where a.network = ${network} and a.transaction_hash = m."transactionHash" and a.log_index = m."logIndex"`;
}

/** Stores who bore a departure that nobody ordered. */
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
