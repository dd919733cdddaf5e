import { OPERATOR_FLOAT } from '../../domain/books.ts';
import type { PayMethod } from '../../domain/item.ts';
import { isOutgoingStopped } from '../parties/freezes.ts';
import { one, type Reader, type Tx } from '../plumbing/database.ts';

/** A payout, a refund or a return: a transfer from our intermediate account, or a refund that the merchant's own account signs. */
export interface Outgoing {
  /** The id that stands for the transfer on chain, sealed in the subject of the item. */
  readonly id: string;
  readonly purpose: OutgoingPurpose;
  /** The party that has the key of the paying account. */
  readonly signer: 'gateway' | 'merchant';
  readonly network: string;
  readonly asset: string;
  readonly method: PayMethod;
  readonly payer: string;
  readonly recipient: string;
  /** A decimal integer in the smallest unit. */
  readonly amount: string;
  readonly merchantId: string | null;
  /** The owner of the float. Null unless the transfer returns a float to its owner. */
  readonly floatOwner: string | null;
  readonly state: 'sending' | 'paid' | 'failed';
  readonly attempts: number;
  /** The commitment of the present attempt: the hash of its terms. Null between attempts. */
  readonly commitment: string | null;
  readonly seal: string | null;
  readonly collector: string;
  readonly feeAccount: string | null;
  readonly deadline: Date | null;
  readonly isDue: boolean;
  readonly problem: string | null;
  readonly transactionHash: string | null;
  /** The MAC that proves that the gateway wrote the row. Null in a row that it did not write. */
  readonly mac: string | null;
  /** The fee that the operator's float still has to give back to the merchant's float, in the smallest unit. */
  readonly feeReturn: string;
  /** The payment of a payout. Also set in refunds that an older version wrote, which had no table `lots`. */
  readonly paymentId: string | null;
}

export type OutgoingPurpose = 'payout' | 'refund' | 'return';

export type NewOutgoing = Pick<
  Outgoing,
  'id' | 'purpose' | 'network' | 'asset' | 'method' | 'payer' | 'recipient' | 'merchantId' | 'floatOwner'
> & {
  readonly amount: bigint;
  /** The payment of a payout. Undefined for refunds and returns. */
  readonly paymentId?: string;
};

/**
 * Inserts new transfers and restarts failed transfers. Returns the ids of both. Transfers that are in progress or paid stay as they are.
 */
export async function insertOutgoing(
  tx: Tx,
  rows: readonly (NewOutgoing & { readonly mac: string })[],
  at: Date,
): Promise<string[]> {
  const written = rows.map((row) => ({ ...row, amount: row.amount.toString() }));
  const begun = await tx<{ id: string }[]>`
    insert into outgoing (id, purpose, network, asset, method, payer, recipient, amount, merchant_id, float_owner, payment_id,
      mac, state, created_at, updated_at)
    select o.id, o.purpose, o.network, o.asset, o.method, o.payer, o.recipient, o.amount, o."merchantId",
      o."floatOwner", o."paymentId", o.mac, 'sending', ${at}::timestamptz, ${at}::timestamptz
    from jsonb_to_recordset(${tx.json(written as never)}) as o(
      id text, purpose text, network text, asset text, method text, payer text, recipient text, amount numeric,
      "merchantId" text, "floatOwner" text, "paymentId" text, mac text)
    on conflict (id) do update
    set network = excluded.network, asset = excluded.asset, method = excluded.method, payer = excluded.payer,
      recipient = excluded.recipient, amount = excluded.amount, merchant_id = excluded.merchant_id,
      float_owner = excluded.float_owner, payment_id = excluded.payment_id, mac = excluded.mac,
      state = 'sending', attempts = 0, commitment = null, is_due = false, retry_at = null, problem = null, updated_at = excluded.updated_at
    where outgoing.state = 'failed'
    returning id`;
  return begun.map(({ id }) => id);
}

/** The filter for outgoing transfers whose next attempt may begin now. */
export interface OutgoingToBegin {
  readonly network: string;
  /** The addresses of our accounts whose keys this node has. */
  readonly signers: readonly string[];
  readonly now: Date;
}

/**
 * Transfers from the accounts `signers` that have no stored item yet. The transfer that has waited longest since its last try comes first.
 * Thus a transfer that cannot begin does not delay the others.
 */
export function findOutgoingToBegin(
  db: Reader,
  { limit, ...ask }: OutgoingToBegin & { readonly limit: number },
): Promise<Outgoing[]> {
  return db<Outgoing[]>`
    select ${outgoingColumns(db)} from outgoing o
    where ${isToBegin(db, ask)} and payer = any(${ask.signers as string[]}::text[])
    order by coalesce(retry_at, created_at), created_at limit ${limit}`;
}

/** The number of transfers that could begin now if this node had the keys of their accounts. */
export async function countOutgoingUnsigned(db: Reader, ask: OutgoingToBegin): Promise<number> {
  const rows = await db<{ count: number }[]>`
    select count(*)::int as count from outgoing o
    where ${isToBegin(db, ask)} and payer <> all(${ask.signers as string[]}::text[])`;
  return one(rows).count;
}

function isToBegin(db: Reader, { network, now }: OutgoingToBegin) {
  return db`network = ${network} and state = 'sending' and signer = 'gateway' and not is_due and (retry_at is null or retry_at <= ${now})
    and not ${isOutgoingStopped(db)}`;
}

/**
 * Transfers that could have begun at `before`, and have not begun: their number, and the oldest. Transfers that a freeze or the hourly
 * limit stops do not count.
 */
export async function findUnbegun(
  db: Reader,
  { network, before }: { network: string; before: Date },
): Promise<{ readonly count: number; readonly oldest: string; readonly since: Date } | undefined> {
  const [row] = await db<{ count: number; oldest: string; since: Date }[]>`
    select count(*) over ()::int as count, id as oldest, updated_at as since from outgoing o
    where network = ${network} and state = 'sending' and signer = 'gateway' and not is_due and updated_at <= ${before}
      and (retry_at is null or retry_at <= ${before}) and problem is distinct from ${LIMITED} and not ${isOutgoingStopped(db)}
    order by updated_at limit 1`;
  return row;
}

/** The number of our transfers from one account that wait because the account has not approved the token for Permit2. */
export interface Unapproved {
  readonly payer: string;
  readonly asset: string;
  readonly count: number;
}

export function findUnapproved(db: Reader, network: string): Promise<Unapproved[]> {
  return db<Unapproved[]>`
    select i.payer, i.asset, count(*)::int as count from items i join outgoing o on o.id = i.subject
    where i.network = ${network} and i.state = 'due' and i.purpose <> 'payment' and i.purpose <> 'sweep'
      and o.signer = 'gateway' and i.refusal = 'short_allowance'
    group by i.payer, i.asset order by i.asset, i.payer`;
}

export interface Attempt {
  readonly id: string;
  readonly commitment: string;
  /** The 32 bytes that the chain shows as the subject. Null for the first release of the Collector, which has no seals. */
  readonly seal: string | null;
  readonly collector: string;
  readonly feeAccount: string;
  readonly deadline: Date;
}

/** Stores the terms of an attempt before they are signed. Returns false if the transfer already has an attempt, or if a freeze stops it. */
export async function planAttempt(tx: Tx, attempt: Attempt, at: Date): Promise<boolean> {
  const { count } = await tx`
    update outgoing o
    set attempts = attempts + 1, commitment = ${attempt.commitment}, seal = ${attempt.seal},
      collector = ${attempt.collector},
      fee_account = ${attempt.feeAccount}, deadline = ${attempt.deadline}, begun_at = ${at},
      problem = nullif(problem, ${LIMITED}), updated_at = ${at}
    where id = ${attempt.id} and state = 'sending' and commitment is null and not ${isOutgoingStopped(tx)}`;
  return count === 1;
}

/**
 * Records that the item of an attempt is stored. Returns false if that is already recorded, if another attempt has replaced this one, or if
 * a freeze stops the transfer.
 */
export async function markDue(tx: Tx, { id, commitment }: { id: string; commitment: string }): Promise<boolean> {
  const { count } = await tx`
    update outgoing o set is_due = true
    where id = ${id} and commitment = ${commitment} and state = 'sending' and not is_due
      and not ${isOutgoingStopped(tx)}`;
  return count === 1;
}

/** Postpones the next attempt of a transfer to `until`. Transfers that have waited longer then come before it. */
export async function postponeOutgoing(
  tx: Tx,
  { id, until, isLimited = false }: { id: string; until: Date; isLimited?: boolean },
): Promise<void> {
  await tx`
    update outgoing set retry_at = ${until}, problem = case when ${isLimited} then ${LIMITED} else problem end
    where id = ${id} and state = 'sending' and not is_due`;
}

/** The value of `problem` for a transfer that waits because the hourly limit is reached. */
const LIMITED = 'limited';

/** True if a transfer of the asset waits because the hourly limit is reached. */
export async function hasLimited(db: Reader, asset: string): Promise<boolean> {
  const rows = await db`
    select from outgoing where asset = ${asset} and problem = ${LIMITED} and state = 'sending' and not is_due limit 1`;
  return rows.length > 0;
}

/** The sum of an asset's transfers whose last attempt began after `since`, without the transfer `id`. */
export async function sumBegun(
  db: Reader,
  { network, asset, id, since }: { network: string; asset: string; id: string; since: Date },
): Promise<bigint> {
  const rows = await db<{ units: string }[]>`
    select coalesce(sum(amount), 0)::text as units from outgoing
    where network = ${network} and asset = ${asset} and begun_at > ${since} and id <> ${id}`;
  return BigInt(one(rows).units);
}

/**
 * Locks a page of the transfers that may be signed again: open and failed transfers, and paid transfers that a deep reorg may still reopen.
 */
export function lockOpenOutgoing(
  tx: Tx,
  { after, limit, paidSince }: { readonly after: string; readonly limit: number; readonly paidSince: Date },
): Promise<Outgoing[]> {
  return tx<Outgoing[]>`
    select ${outgoingColumns(tx)} from outgoing where id > ${after} and (state <> 'paid' or updated_at > ${paidSince})
    order by id limit ${limit} for no key update`;
}

export async function setOutgoingMacs(
  tx: Tx,
  macs: readonly { readonly id: string; readonly mac: string }[],
): Promise<void> {
  await tx`
    update outgoing o set mac = m.mac
    from jsonb_to_recordset(${tx.json(macs as never)}) as m(id text, mac text) where o.id = m.id`;
}

export async function lockOutgoing(tx: Tx, id: string): Promise<Outgoing | undefined> {
  const [row] = await tx<Outgoing[]>`select ${outgoingColumns(tx)} from outgoing where id = ${id} for update`;
  return row;
}

export async function endPaid(tx: Tx, { id, hash, at }: { id: string; hash: string; at: Date }): Promise<void> {
  await tx`
    update outgoing set state = 'paid', transaction_hash = ${hash}, problem = null, is_due = false, updated_at = ${at}
    where id = ${id}`;
}

/** Ends a transfer as failed, because its last attempt can never be executed. */
export async function endFailed(tx: Tx, { id, problem, at }: { id: string; problem: string; at: Date }): Promise<void> {
  await tx`
    update outgoing
    set state = 'failed', commitment = null, is_due = false, problem = ${problem}, updated_at = ${at}
    where id = ${id}`;
}

/** The terms of a refund that the merchant's account is asked to sign. */
export type OfferedOutgoing = Omit<NewOutgoing, 'purpose' | 'floatOwner'> &
  Omit<Attempt, 'id'> & { readonly mac: string; readonly feeReturn: bigint };

/** Stores a refund that the merchant's account is asked to sign. Returns false if the refund already has a row, by any signer. */
export async function insertOffered(tx: Tx, offered: OfferedOutgoing, at: Date): Promise<boolean> {
  const { id, network, asset, method, payer, recipient, merchantId, mac, commitment, collector, feeAccount } = offered;
  const { count } = await tx`
    insert into outgoing (id, purpose, signer, network, asset, method, payer, recipient, amount, merchant_id, mac, state,
      attempts, commitment, seal, collector, fee_account, deadline, fee_return, created_at, updated_at)
    values (${id}, 'refund', 'merchant', ${network}, ${asset}, ${method}, ${payer}, ${recipient},
      ${offered.amount.toString()}, ${merchantId}, ${mac}, 'sending', 1, ${commitment}, ${offered.seal},
      ${collector}, ${feeAccount},
      ${offered.deadline}, ${offered.feeReturn.toString()}, ${at}, ${at})
    on conflict (id) do nothing`;
  return count === 1;
}

/**
 * The ids of refunds that merchants have paid, and whose fee the operator's float can give back now. The refund that has waited longest
 * since its last try comes first.
 */
export async function findFeesToReturn(
  db: Reader,
  { now, limit }: { readonly now: Date; readonly limit: number },
): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select o.id from outgoing o join floats f on f.owner = ${OPERATOR_FLOAT} and f.asset = o.asset
    where o.fee_return > 0 and o.state = 'paid' and f.units >= o.fee_return
      and (o.retry_at is null or o.retry_at <= ${now})
    order by coalesce(o.retry_at, o.created_at), o.created_at limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** Postpones the return of a fee after a failure, so that other fees come first. */
export async function postponeFeeReturn(
  tx: Tx,
  { id, retryAt }: { readonly id: string; readonly retryAt: Date },
): Promise<void> {
  await tx`update outgoing set retry_at = ${retryAt} where id = ${id} and state = 'paid'`;
}

/** Sets the part of a refund's fee that is still to be given back to the merchant. The caller has locked the refund. */
export async function setFeeReturn(
  tx: Tx,
  { id, units }: { readonly id: string; readonly units: bigint },
): Promise<void> {
  await tx`update outgoing set fee_return = ${units.toString()} where id = ${id}`;
}

/** Deletes a refund that the merchant's account was asked to sign. The chain has proved that its terms can never be executed. */
export async function deleteOffered(tx: Tx, id: string): Promise<void> {
  await tx`delete from outgoing where id = ${id} and signer = 'merchant'`;
}

/** Deletes a transfer for which no signature exists, so that it can be ordered again with other terms. */
export async function deleteUnsignedOutgoing(tx: Tx, id: string): Promise<void> {
  const { count } = await tx`delete from outgoing where id = ${id} and commitment is null and state <> 'paid'`;
  if (count !== 1) throw new Error('A transfer that may have been signed cannot be withdrawn.');
}

/** Ends the last attempt of a transfer, because it can never be executed, and lets the next attempt begin at `retryAt`. */
export async function renewOutgoing(
  tx: Tx,
  { id, problem, retryAt, at }: { id: string; problem: string | null; retryAt: Date; at: Date },
): Promise<void> {
  await tx`
    update outgoing
    set state = 'sending', commitment = null, is_due = false, problem = ${problem}, retry_at = ${retryAt},
      transaction_hash = null, updated_at = ${at}
    where id = ${id}`;
}

export async function findOutgoing(db: Reader, id: string): Promise<Outgoing | undefined> {
  const [row] = await db<Outgoing[]>`select ${outgoingColumns(db)} from outgoing where id = ${id}`;
  return row;
}

function outgoingColumns(db: Reader) {
  return db`id, purpose, signer, network, asset, method, payer, recipient, amount, merchant_id as "merchantId",
    float_owner as "floatOwner", state, attempts, commitment, seal, collector, fee_account as "feeAccount", deadline,
    is_due as "isDue", problem, transaction_hash as "transactionHash", mac, fee_return as "feeReturn",
    payment_id as "paymentId"`;
}

/** Payouts and refunds that this transaction on chain has executed. A transaction contains some hundred items at most. */
export async function findOutgoingOf(
  db: Reader,
  transactionHash: string,
): Promise<Pick<Outgoing, 'id' | 'paymentId'>[]> {
  return db<Pick<Outgoing, 'id' | 'paymentId'>[]>`
    select id, payment_id as "paymentId" from outgoing
    where transaction_hash = ${transactionHash} and purpose in ('payout', 'refund') limit 1000`;
}

/** The payouts of a payment, the newest first. */
export function findPayoutsOf(db: Reader, paymentId: string, limit: number): Promise<Outgoing[]> {
  return db<Outgoing[]>`
    select ${outgoingColumns(db)} from outgoing
    where purpose = 'payout' and payment_id = ${paymentId} order by created_at desc, id limit ${limit}`;
}
