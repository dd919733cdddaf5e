import type { ItemKey, PayMethod } from '../../domain/item.ts';
import type { ItemPurpose } from '../chain/items.ts';
import { appendHappened, newEventId } from '../events/events.ts';
import type { Tx } from '../plumbing/database.ts';

/** The facts about a payment that a rebuild can read from the chain. */
export interface RestoredPayment {
  readonly id: string;
  readonly merchantId: string;
  /** The paid asset (CAIP-19). It is also the unit of the price, and the paid amount is the price, because the original price is lost. */
  readonly asset: string;
  readonly amount: bigint;
  readonly decimals: number;
  readonly createdAt: Date;
  readonly paidAt: Date;
}

/**
 * Inserts a restored payment in the state `requires_action`, from which the usual transitions then lead to its end. Returns false if the
 * merchant does not exist. If older events of the payment are still stored, its version and the sequences of its events continue from them.
 */
export async function insertRestoredPayment(tx: Tx, payment: RestoredPayment, now: Date): Promise<boolean> {
  tx.outbox.hasEvents = true;
  const { id, merchantId, asset, decimals, createdAt, paidAt } = payment;
  const unit = `caip19/${asset}`;
  const amount = payment.amount.toString();
  const rows = await tx`
    with made as (
      insert into payments (id, partner_id, mode, merchant_id, reference_id, amount_unit, amount_value, amount_decimals,
        version, created_at, updated_at, expires_at, token_asset, token_value)
      select ${id}, partner_id, mode, id, 'rebuilt', ${unit}, ${amount}::numeric, ${decimals},
        coalesce((select max(sequence) from events where object_id = ${id}), 0), ${createdAt}, ${now}, ${paidAt},
        ${asset}, ${amount}::numeric
      from merchants where id = ${merchantId}
      returning *
    ), happened as (
      select partner_id, mode, merchant_id, ${newEventId(tx, now)} as id, 'payment.created' as type, id as object_id,
        version + 1 as sequence, ${now}::timestamptz as at, 'operator' as actor, null::jsonb as data,
        '{"rebuilt": true}'::jsonb as evidence
      from made
    ), ${appendHappened(tx)}, counted as (
      insert into payment_stat_changes
        (partner_id, mode, merchant_id, day, status, token_asset, amount_unit, amount_decimals, payments, value)
      select partner_id, mode, merchant_id, (created_at at time zone 'UTC')::date, status, token_asset, amount_unit,
        amount_decimals, 1, amount_value
      from made
    )
    select from made`;
  return rows.length === 1;
}

/** The facts about a paid item that a rebuild can read from the chain. */
export interface RestoredItem {
  readonly key: ItemKey;
  readonly subject: string;
  readonly seal: string | null;
  readonly purpose: ItemPurpose;
  readonly network: string;
  readonly collector: string;
  readonly asset: string;
  readonly method: PayMethod;
  readonly payer: string;
  readonly account: string;
  readonly recipient: string;
  readonly feeAccount: string;
  readonly amount: bigint;
  readonly fee: bigint;
  readonly deadline: Date;
  readonly isHeld: boolean;
  readonly endReason: 'paid_after_end' | null;
  readonly paidAt: Date;
}

/** Inserts a restored item. An item that is already stored stays unchanged. */
export async function insertRestoredItem(tx: Tx, item: RestoredItem): Promise<void> {
  await tx`
    insert into items (commitment, subject, seal, purpose, network, collector, asset, method, payer, account, recipient,
      fee_account, amount, fee, deadline, is_held, buyer_name, state, accepted_at, ended_at, end_reason)
    values (${item.key}, ${item.subject}, ${item.seal}, ${item.purpose}, ${item.network}, ${item.collector}, ${item.asset},
      ${item.method}, ${item.payer}, ${item.account}, ${item.recipient}, ${item.feeAccount}, ${item.amount.toString()},
      ${item.fee.toString()}, ${item.deadline}, ${item.isHeld}, ${item.purpose === 'payment' ? 'Wallet' : ''}, 'paid',
      ${item.paidAt}, ${item.paidAt}, ${item.endReason})
    on conflict (commitment) do nothing`;
}
