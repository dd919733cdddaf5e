import type { Reader, Tx } from '../plumbing/database.ts';

/** Money that came without being asked for. */
export interface Stray {
  readonly id: string;
  readonly network: string;
  /** Null for coin from a contract call: neither the transaction nor the sender is known. */
  readonly transactionHash: string | null;
  readonly logIndex: number;
  readonly blockNumber: number;
  /** A plain transfer, or a payment that arrived after its end. */
  readonly source: 'transfer' | 'late_payment';
  readonly asset: string;
  readonly sender: string | null;
  /** Our account that received it. */
  readonly account: string;
  readonly amount: string;
  /** For a late payment: its fee, and whether the rest is on that account. */
  readonly fee: string;
  readonly isHeld: boolean;
  readonly paymentId: string | null;
  readonly merchantId: string | null;
  /** True if it is on the intermediate account, among money of other owners. */
  readonly isBooked: boolean;
  readonly state: 'unclaimed' | 'float' | 'returning' | 'returned';
  readonly seenAt: Date;
}

export type NewStray = Omit<Stray, 'state' | 'seenAt'> & { readonly state: 'unclaimed' | 'float' };

/** Stores new strays, and returns their ids: each log of the chain is at most one stray. */
export async function insertStrays(tx: Tx, strays: readonly NewStray[], at: Date): Promise<string[]> {
  const inserted = await tx<{ id: string }[]>`
    insert into strays (id, network, transaction_hash, log_index, block_number, source, asset, sender, account, amount,
      fee, is_held, payment_id, merchant_id, is_booked, state, seen_at, updated_at)
    select s.id, s.network, s."transactionHash", s."logIndex", s."blockNumber", s.source, s.asset, s.sender, s.account,
      s.amount, s.fee, s."isHeld", s."paymentId", s."merchantId", s."isBooked", s.state, ${at}::timestamptz, ${at}::timestamptz
    from jsonb_to_recordset(${tx.json(strays as never)}) as s(
      id text, network text, "transactionHash" text, "logIndex" int, "blockNumber" bigint, source text, asset text,
      sender text, account text, amount numeric, fee numeric, "isHeld" boolean, "paymentId" text, "merchantId" text,
      "isBooked" boolean, state text)
    on conflict do nothing
    returning id`;
  return inserted.map(({ id }) => id);
}

/** Moves a stray; false when it is not in that state. */
export async function moveStray(
  tx: Tx,
  { id, from, to, at }: { id: string; from: Stray['state']; to: Stray['state']; at: Date },
): Promise<boolean> {
  const { count } = await tx`
    update strays set state = ${to}, updated_at = ${at} where id = ${id} and state = ${from}`;
  return count === 1;
}

/** Sets strays to their known later state, and returns those strays. */
export async function followOutgoing(tx: Tx, ids: readonly string[], at: Date): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    update strays s set state = case o.state when 'paid' then 'returned' else 'returning' end, updated_at = ${at}
    from outgoing o
    where s.id = any(${ids as string[]}::text[]) and o.id = s.id and o.state in ('paid', 'sending')
    returning s.id`;
  return rows.map(({ id }) => id);
}

export async function lockStray(tx: Tx, id: string): Promise<Stray | undefined> {
  const [row] = await tx<Stray[]>`select ${strayColumns(tx)} from strays where id = ${id} for update`;
  return row;
}

export function findStrays(db: Reader, ids: readonly string[]): Promise<Stray[]> {
  return db<Stray[]>`select ${strayColumns(db)} from strays where id = any(${ids as string[]}::text[])`;
}

/** The newest first. */
export function listStrays(
  db: Reader,
  { states, limit }: { states: readonly Stray['state'][]; limit: number },
): Promise<Stray[]> {
  return db<Stray[]>`
    select ${strayColumns(db)} from strays where state = any(${states as string[]}::text[])
    order by seen_at desc, id limit ${limit}`;
}

/** Which blocks of a network were searched for strays. */
export interface StrayCursor {
  /** Arrivals up to this block are part of the opening balances of the network. */
  readonly begunAt: number;
  readonly searchedTo: number;
}

export async function findStrayCursor(db: Reader, network: string): Promise<StrayCursor | undefined> {
  const [row] = await db<StrayCursor[]>`
    select first_block::int as "begunAt", block_number::int as "searchedTo" from stray_cursors where network = ${network}`;
  return row;
}

/** Two nodes may search the same blocks; the cursor never goes back. */
export async function putStrayCursor(tx: Tx, network: string, blockNumber: number): Promise<void> {
  await tx`
    insert into stray_cursors (network, first_block, block_number) values (${network}, ${blockNumber}, ${blockNumber})
    on conflict (network) do update set block_number = greatest(stray_cursors.block_number, excluded.block_number)`;
}

function strayColumns(db: Reader) {
  return db`id, network, transaction_hash as "transactionHash", log_index as "logIndex",
    block_number::int as "blockNumber", source, asset, sender, account, amount, fee, is_held as "isHeld",
    payment_id as "paymentId", merchant_id as "merchantId", is_booked as "isBooked", state, seen_at as "seenAt"`;
}
