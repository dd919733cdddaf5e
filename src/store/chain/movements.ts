import type { Reader, Tx } from '../plumbing/database.ts';

/** A transfer to a deposit address, as the chain shows it. */
export interface StoredMovement {
  readonly network: string;
  readonly transactionHash: string;
  readonly logIndex: number;
  readonly blockNumber: number;
  readonly blockHash: string;
  /** The time of its block. */
  readonly at: Date;
  readonly commitment: string;
  readonly paymentId: string;
  readonly asset: string;
  /** Of a transfer by the Collector, the payer. */
  readonly sender: string;
  readonly amount: string;
  readonly isScreened: boolean;
  /** `balance`: an amount that two endpoints show at the address, and whose log none has shown. */
  readonly source: 'log' | 'balance';
  /** True once enough endpoints have shown it at final depth. */
  readonly isProved: boolean;
}

/** A movement that was just read. One endpoint has shown it, which proves nothing. */
export type ReadMovement = Omit<StoredMovement, 'source' | 'isProved' | 'network'>;

type MovementKey = Pick<StoredMovement, 'transactionHash' | 'logIndex'>;

/**
 * Stores movements, and returns those that are new. The row of a transaction that moved to another block follows it, and has
 * to be proved again. Their addresses are stale from then on.
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
  const commitments = [...new Set(added.map(({ commitment }) => commitment))];
  // A log that shows up late explains a part of what only the balance had shown.
  const gone = await tx<{ commitment: string }[]>`
    delete from movements
    where network = ${network} and commitment = any(${commitments}::text[]) and source = 'balance'
      and asset = any(${[...new Set(added.map(({ asset }) => asset))]}::text[])
    returning commitment`;
  await markPlacesStale(tx, network, commitments);
  if (gone.length > 0) await markPaymentsOf(tx, [...new Set(gone.map(({ commitment }) => commitment))]);
  return added;
}

/** Stores an amount that is at the address by the word of enough endpoints, and that no log explains. */
export async function putBalanceMovement(
  tx: Tx,
  movement: Omit<StoredMovement, 'source' | 'isProved' | 'transactionHash' | 'logIndex' | 'sender' | 'isScreened'>,
): Promise<void> {
  const { network, blockNumber, blockHash, at, commitment, paymentId, asset, amount } = movement;
  const name = `balance ${commitment} ${asset} ${blockNumber}`;
  await tx`
    insert into movements (network, transaction_hash, log_index, block_number, block_hash, at, commitment, payment_id, asset,
      sender, amount, is_screened, source, is_proved)
    values (${network}, ${name}, 0, ${blockNumber}, ${blockHash}, ${at}, ${commitment}, ${paymentId}, ${asset}, '', ${amount},
      false, 'balance', true)
    on conflict (network, transaction_hash, log_index) do nothing`;
}

/** Removes the amounts that only the balance had shown, of one asset at one address. */
export async function deleteBalanceMovements(
  tx: Tx,
  { network, commitment, asset }: Pick<StoredMovement, 'network' | 'commitment' | 'asset'>,
): Promise<void> {
  await tx`
    delete from movements
    where network = ${network} and commitment = ${commitment} and asset = ${asset} and source = 'balance'`;
}

/** Deletes movements of blocks that left the chain. Their addresses are looked at again. Returns the payments that lose proved ones. */
export async function deleteMovementsAbove(tx: Tx, network: string, number: number): Promise<string[]> {
  const gone = await tx<{ commitment: string; paymentId: string; isProved: boolean }[]>`
    delete from movements where network = ${network} and block_number > ${number}
    returning commitment, payment_id as "paymentId", is_proved as "isProved"`;
  await tx`
    update deposit_cursors
    set read_number = least(read_number, ${number}), final_number = least(final_number, ${number})
    where network = ${network}`;
  if (gone.length > 0) await markPlacesStale(tx, network, [...new Set(gone.map(({ commitment }) => commitment))]);
  return [...new Set(gone.filter(({ isProved }) => isProved).map(({ paymentId }) => paymentId))];
}

/** Removes movements that enough endpoints deny. */
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

/** The movements to one address up to a block that are not proved yet: the largest of them. */
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

/** The sums of what is listed for one address up to a block, by asset. */
export async function sumMovements(
  db: Reader,
  { network, commitment, upTo }: { network: string; commitment: string; upTo: number },
): Promise<Map<string, bigint>> {
  const rows = await db<{ asset: string; units: string }[]>`
    select asset, sum(amount)::text as units from movements
    where network = ${network} and commitment = ${commitment} and block_number <= ${upTo} group by asset`;
  return new Map(rows.map(({ asset, units }) => [asset, BigInt(units)]));
}

/** All proved movements of a payment, on all networks. */
export async function listProvedMovements(db: Reader, paymentId: string): Promise<StoredMovement[]> {
  const rows = await db<MovementRow[]>`
    select ${movementColumns(db)} from movements where payment_id = ${paymentId} and is_proved
    order by at, network, block_number, log_index`;
  return rows.map(readMovement);
}

/** The largest movements of an asset to a deposit address, in any depth. Anybody may send thousands of small ones. */
export async function listMovements(
  db: Reader,
  { network, commitment, asset, limit }: { network: string; commitment: string; asset: string; limit: number },
): Promise<StoredMovement[]> {
  const rows = await db<MovementRow[]>`
    select ${movementColumns(db)} from movements
    where network = ${network} and commitment = ${commitment} and asset = ${asset}
    order by amount desc, block_number, log_index limit ${limit}`;
  return rows.map(readMovement);
}

type MovementRow = Omit<StoredMovement, 'blockNumber'> & { readonly blockNumber: string };

function movementColumns(db: Reader) {
  return db`network, transaction_hash as "transactionHash", log_index as "logIndex", block_number as "blockNumber",
    block_hash as "blockHash", at, commitment, payment_id as "paymentId", asset, sender, amount::text as amount,
    is_screened as "isScreened", source, is_proved as "isProved"`;
}

const readMovement = (row: MovementRow): StoredMovement => ({ ...row, blockNumber: Number(row.blockNumber) });

/** The addresses are looked at in the next round of the network. */
export async function markPlacesStale(tx: Tx, network: string, commitments: readonly string[]): Promise<void> {
  await tx`
    update deposit_places set is_stale = true
    where network = ${network} and commitment = any(${commitments as string[]}::text[]) and not is_stale`;
}

async function markPaymentsOf(tx: Tx, commitments: readonly string[]): Promise<void> {
  await tx`
    update positions set is_stale = true
    where payment_id in (select payment_id from deposit_places where commitment = any(${commitments as string[]}::text[]))`;
}
