import type { Reader, Tx } from '../plumbing/database.ts';
import type { Outgoing } from './outgoing.ts';

/** A payout, refund or return that a rebuild has read from the chain. */
export type RestoredOutgoing = Pick<
  Outgoing,
  | 'id'
  | 'purpose'
  | 'signer'
  | 'network'
  | 'asset'
  | 'method'
  | 'payer'
  | 'recipient'
  | 'amount'
  | 'merchantId'
  | 'floatOwner'
> & {
  readonly paymentId?: string;
  readonly mac: string;
  readonly commitment: string;
  readonly seal: string | null;
  readonly collector: string;
  readonly feeAccount: string;
  readonly deadline: Date;
  readonly transactionHash: string;
};

/** Stores a restored transfer as paid. A row that is already paid stays unchanged. */
export async function putRestoredOutgoing(tx: Tx, outgoing: RestoredOutgoing, at: Date): Promise<void> {
  const { id, purpose, signer, network, asset, method, payer, recipient, amount, merchantId, floatOwner } = outgoing;
  await tx`
    insert into outgoing (id, purpose, signer, network, asset, method, payer, recipient, amount, merchant_id, float_owner, payment_id,
      mac, state, attempts, commitment, seal, collector, fee_account, deadline, transaction_hash, created_at, updated_at)
    values (${id}, ${purpose}, ${signer}, ${network}, ${asset}, ${method}, ${payer}, ${recipient}, ${amount},
      ${merchantId}, ${floatOwner}, ${outgoing.paymentId ?? null}, ${outgoing.mac}, 'paid', 1, ${outgoing.commitment},
      ${outgoing.seal}, ${outgoing.collector}, ${outgoing.feeAccount}, ${outgoing.deadline},
      ${outgoing.transactionHash}, ${at}, ${at})
    on conflict (id) do update
    set state = 'paid', commitment = excluded.commitment, seal = excluded.seal, collector = excluded.collector,
      fee_account = excluded.fee_account,
      deadline = excluded.deadline, transaction_hash = excluded.transaction_hash, is_due = false, retry_at = null,
      problem = null, updated_at = excluded.updated_at
    where outgoing.state <> 'paid'`;
}

/** The amounts that floats have paid for this refund or return, by the owner of the float. */
export async function takenFor(db: Reader, subject: string): Promise<Map<string, bigint>> {
  const rows = await db<{ owner: string; units: string }[]>`
    select owner, (-sum(units))::text as units from float_changes
    where subject = ${subject} and kind <> 'added' group by owner having sum(units) <> 0`;
  return new Map(rows.map(({ owner, units }) => [owner, BigInt(units)]));
}

/** All accounts that have received the fees of this network's items. */
export async function listFeeAccounts(db: Reader, network: string): Promise<string[]> {
  const rows = await db<{ account: string }[]>`
    select distinct fee_account as account from items where network = ${network}`;
  return rows.map(({ account }) => account);
}
