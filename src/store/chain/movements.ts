import type { Reader, Tx } from '../plumbing/database.ts';

/** A transfer to a deposit address, as the chain shows it. */
export interface StoredMovement {
  readonly network: string;
  readonly transactionHash: string;
  readonly logIndex: number;
  readonly blockNumber: number;
  readonly blockHash: string;
  /** The time of the block that contains the transfer. */
  readonly at: Date;
  readonly commitment: string;
  readonly paymentId: string;
  readonly asset: string;
  /** The account that sent the money. For a transfer by the Collector, the payer of the item. */
  readonly sender: string;
  readonly amount: string;
  readonly isScreened: boolean;
  /**
   * The way in which the amount is known. `log`: a Transfer log shows it. `balance`: two endpoints show that the balance contains it, and
   * no endpoint shows a log. `loss`: logs show its arrival, and two endpoints show that the balance does not contain it.
   */
  readonly source: 'log' | 'balance' | 'loss';
  /** True if enough endpoints have confirmed the movement at final depth. */
  readonly isProved: boolean;
}

/** A movement that one endpoint has just shown. One endpoint proves nothing. */
export type ReadMovement = Omit<StoredMovement, 'source' | 'isProved' | 'network'>;

type MovementKey = Pick<StoredMovement, 'transactionHash' | 'logIndex'>;

/**
 * Stores movements, and returns the new and the moved ones. If a transaction moved to another block, its row gets the new block and must be
 * proved again. The addresses of the returned movements are marked for a check.
 */
export async function putMovements(
  tx: Tx,
  network: string,
  movements: readonly ReadMovement[],
): Promise<(MovementKey & Pick<StoredMovement, 'commitment'>)[]> {
  if (movements.length === 0) return [];
  const added = await tx<(MovementKey & Pick<StoredMovement, 'commitment' | 'asset'>)[]>`
    insert into movements (network, transaction_hash, log_index, block_number, block_hash, at, commitment, payment_id, asset,
      sender, amount, is_screened)
    select distinct on (m."transactionHash", m."logIndex") ${network}, m."transactionHash", m."logIndex",
      m."blockNumber", m."blockHash", m.at, m.commitment, m."paymentId", m.asset, m.sender, m.amount, m."isScreened"
    from jsonb_to_recordset(${tx.json(movements as never)}) as m("transactionHash" text, "logIndex" int,
      "blockNumber" bigint, "blockHash" text, at timestamptz, commitment text, "paymentId" text, asset text, sender text,
      amount numeric, "isScreened" boolean)
    on conflict (network, transaction_hash, log_index) do update
    set block_number = excluded.block_number, block_hash = excluded.block_hash, at = excluded.at, is_proved = false
    where movements.block_hash <> excluded.block_hash
    returning transaction_hash as "transactionHash", log_index as "logIndex", commitment, asset`;
  if (added.length === 0) return added;
  await markPlacesToCheck(tx, network, [...new Set(added.map(({ commitment }) => commitment))]);
  return added;
}

/** An amount by which the balance of a deposit address differs from its Transfer logs. */
export type Residual = Omit<StoredMovement, 'isProved' | 'transactionHash' | 'logIndex' | 'sender' | 'isScreened'> & {
  readonly source: 'balance' | 'loss';
};

/** The first part of the text that a residual has instead of a transaction hash. The ids of its lots contain this text. */
export function residualName(source: Residual['source'], commitment: string): string {
  return `${source} ${commitment} `;
}

/**
 * Stores the amount by which the balance of an address, as two endpoints show it, differs from its logs. If the amount has grown since the
 * last time, the earlier row stays and a second row gets the increase. So the existing lots keep their ids.
 */
export async function putResidual(tx: Tx, residual: Residual): Promise<void> {
  const { network, blockNumber, blockHash, at, commitment, paymentId, asset, amount, source } = residual;
  const rows = await tx<{ source: string; units: string }[]>`
    select source, sum(amount)::text as units from movements
    where network = ${network} and commitment = ${commitment} and asset = ${asset} and source <> 'log' group by source`;
  const before = rows.length === 1 && rows[0]?.source === source ? BigInt(rows[0].units) : 0n;
  const isKept = rows.length === 0 || (before > 0n && before <= BigInt(amount));
  if (!isKept) await deleteResidual(tx, residual);
  const rest = BigInt(amount) - (isKept ? before : 0n);
  if (rest === 0n) return;
  const name = `${residualName(source, commitment)}${asset} ${blockNumber}`;
  await tx`
    insert into movements (network, transaction_hash, log_index, block_number, block_hash, at, commitment, payment_id, asset,
      sender, amount, is_screened, source, is_proved)
    values (${network}, ${name}, -1, ${blockNumber}, ${blockHash}, ${at}, ${commitment}, ${paymentId}, ${asset}, '',
      ${rest.toString()}, false, ${source}, true)
    on conflict (network, transaction_hash, log_index) do update set amount = movements.amount + excluded.amount`;
}

/** True if money without a Transfer log is stored for the address. */
export async function hasMoneyWithoutLog(
  db: Reader,
  { network, commitment }: Pick<StoredMovement, 'network' | 'commitment'>,
): Promise<boolean> {
  const rows = await db`
    select from movements
    where commitment = ${commitment} and network = ${network} and source = 'balance' limit 1`;
  return rows.length > 0;
}

/** Deletes the residual of an address in an asset, because the logs explain the balance again. */
export async function deleteResidual(
  tx: Tx,
  { network, commitment, asset }: Pick<StoredMovement, 'network' | 'commitment' | 'asset'>,
): Promise<void> {
  await tx`
    delete from movements
    where network = ${network} and commitment = ${commitment} and asset = ${asset} and source <> 'log'`;
}

/**
 * Deletes movements above a block after a reorg, and marks their addresses for a check. Returns the payments that have lost proved
 * movements.
 */
export async function deleteMovementsAbove(tx: Tx, network: string, number: number): Promise<string[]> {
  const gone = await tx<{ commitment: string; paymentId: string; isProved: boolean }[]>`
    delete from movements where network = ${network} and block_number > ${number}
    returning commitment, payment_id as "paymentId", is_proved as "isProved"`;
  await tx`
    update deposit_cursors
    set read_number = least(read_number, ${number}), final_number = least(final_number, ${number})
    where network = ${network}`;
  if (gone.length > 0) await markPlacesToCheck(tx, network, [...new Set(gone.map(({ commitment }) => commitment))]);
  return [...new Set(gone.filter(({ isProved }) => isProved).map(({ paymentId }) => paymentId))];
}

/** Deletes movements whose log enough endpoints deny. */
export async function deleteMovements(tx: Tx, network: string, keys: readonly MovementKey[]): Promise<void> {
  await tx`
    delete from movements m
    using jsonb_to_recordset(${tx.json(keys as never)}) as d("transactionHash" text, "logIndex" int)
    where m.network = ${network} and m.transaction_hash = d."transactionHash" and m.log_index = d."logIndex"
      and m.source = 'log'`;
}

export async function proveMovements(tx: Tx, network: string, keys: readonly MovementKey[]): Promise<void> {
  if (keys.length === 0) return;
  await tx`
    update movements m set is_proved = true
    from jsonb_to_recordset(${tx.json(keys as never)}) as p("transactionHash" text, "logIndex" int)
    where m.network = ${network} and m.transaction_hash = p."transactionHash" and m.log_index = p."logIndex"`;
}

/** The largest movements to an address, up to a block, that are not proved yet. */
export async function listUnproved(
  db: Reader,
  { network, commitment, upTo, limit }: { network: string; commitment: string; upTo: number; limit: number },
): Promise<StoredMovement[]> {
  const rows = await db<MovementRow[]>`
    select ${movementColumns(db)} from movements
    where network = ${network} and commitment = ${commitment} and not is_proved and block_number <= ${upTo}
    order by amount desc, block_number, log_index limit ${limit}`;
  return rows.map(readMovement);
}

/**
 * The largest movements of an asset to a deposit address, at any depth. Their number is limited, because anybody may send thousands of
 * small ones.
 */
export async function listMovements(
  db: Reader,
  { network, commitment, asset, limit }: { network: string; commitment: string; asset: string; limit: number },
): Promise<StoredMovement[]> {
  const rows = await db<MovementRow[]>`
    select ${movementColumns(db)} from movements
    where network = ${network} and commitment = ${commitment} and asset = ${asset} and source <> 'loss'
    order by amount desc, block_number, log_index limit ${limit}`;
  return rows.map(readMovement);
}

export type MovementRow = Omit<StoredMovement, 'blockNumber'> & { readonly blockNumber: string };

export function movementColumns(db: Reader) {
  return db`network, transaction_hash as "transactionHash", log_index as "logIndex", block_number as "blockNumber",
    block_hash as "blockHash", at, commitment, payment_id as "paymentId", asset, sender, amount::text as amount,
    is_screened as "isScreened", source, is_proved as "isProved"`;
}

export const readMovement = (row: MovementRow): StoredMovement => ({ ...row, blockNumber: Number(row.blockNumber) });

/** Marks deposit addresses, so that the next round of the network checks their balances. */
export async function markPlacesToCheck(tx: Tx, network: string, commitments: readonly string[]): Promise<void> {
  await tx`
    update deposit_places set is_stale = true
    where network = ${network} and commitment = any(${commitments as string[]}::text[]) and not is_stale`;
}
