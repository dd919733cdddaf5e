import type { PayMethod } from '../../domain/item.ts';
import type { ItemPurpose } from '../chain/items.ts';
import type { Tx } from '../plumbing/database.ts';

/** A payment as far as the chain can know it. */
export interface RestoredPayment {
  readonly id: string;
  readonly merchantId: string;
  /** CAIP-19; the price itself is lost, so it is what was paid. */
  readonly asset: string;
  readonly amount: bigint;
  readonly decimals: number;
  /** CAIP-10. */
  readonly account: string;
  readonly createdAt: Date;
  readonly paidAt: Date;
}

/** Makes the payment again, as being paid; the usual move then ends it. Whether there is such a merchant. */
export async function insertRestoredPayment(tx: Tx, payment: RestoredPayment, now: Date): Promise<boolean> {
  const { id, merchantId, asset, decimals, account, createdAt, paidAt } = payment;
  const unit = `caip19/${asset}`;
  const amount = payment.amount.toString();
  const rows = await tx`
    with made as (
      insert into payments (id, partner_id, mode, merchant_id, reference_id, amount_unit, amount_value, amount_decimals,
        status, version, created_at, updated_at, expires_at, token_asset, token_value, buyer_account, buyer_name)
      select ${id}, partner_id, mode, id, 'rebuilt', ${unit}, ${amount}::numeric, ${decimals}, 'processing', 1,
        ${createdAt}, ${now}, ${paidAt}, ${asset}, ${amount}::numeric, ${account}, 'Wallet'
      from merchants where id = ${merchantId}
      returning *
    ), logged as (
      insert into payment_events (payment_id, version, at, from_status, to_status, event, actor, evidence)
      select id, 1, ${now}, 'requires_action', 'processing', 'rebuilt', 'operator', '{}' from made
    ), counted as (
      insert into payment_stat_changes
        (partner_id, mode, merchant_id, status, amount_unit, amount_decimals, payments, value)
      select partner_id, mode, merchant_id, status, amount_unit, amount_decimals, 1, amount_value from made
    ), customers as (
      insert into payment_customers (partner_id, mode, merchant_id, buyer_account, status, payments)
      select partner_id, mode, merchant_id, buyer_account, status, 1 from made
      on conflict (partner_id, mode, merchant_id, buyer_account, status)
        do update set payments = payment_customers.payments + 1
    )
    select from made`;
  return rows.length === 1;
}

/** An item that was paid, as far as the chain can know it. */
export interface RestoredItem {
  readonly commitment: string;
  readonly subject: string;
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

/** Makes the item again, if it is not there. */
export async function insertRestoredItem(tx: Tx, item: RestoredItem): Promise<void> {
  await tx`
    insert into items (commitment, subject, purpose, network, collector, asset, method, payer, account, recipient,
      fee_account, amount, fee, deadline, is_held, buyer_name, state, accepted_at, ended_at, end_reason)
    values (${item.commitment}, ${item.subject}, ${item.purpose}, ${item.network}, ${item.collector}, ${item.asset},
      ${item.method}, ${item.payer}, ${item.account}, ${item.recipient}, ${item.feeAccount}, ${item.amount.toString()},
      ${item.fee.toString()}, ${item.deadline}, ${item.isHeld}, ${item.purpose === 'payment' ? 'Wallet' : ''}, 'paid',
      ${item.paidAt}, ${item.paidAt}, ${item.endReason})
    on conflict (commitment) do nothing`;
}
