import type { PayMethod } from '../../domain/item.ts';
import type { Tx } from '../plumbing/database.ts';

/** Held amounts of older versions. Only sweeps still write them. */
interface Payout {
  readonly paymentId: string;
  readonly merchantId: string;
  readonly network: string;
  readonly asset: string;
  readonly method: PayMethod;
  readonly account: string;
  readonly amount: string;
}

/** Adds a swept net amount to what is held of a payment. False if the held amount has left, or a refund has taken it whole. */
export async function holdSwept(tx: Tx, held: Payout, at: Date): Promise<boolean> {
  const { paymentId, merchantId, network, asset, method, account, amount } = held;
  const { count } = await tx`
    insert into payouts (payment_id, merchant_id, network, asset, method, account, amount, state, held_at, updated_at)
    values (${paymentId}, ${merchantId}, ${network}, ${asset}, ${method}, ${account}, ${amount}, 'held', ${at}, ${at})
    on conflict (payment_id) do update set amount = payouts.amount + excluded.amount, updated_at = excluded.updated_at
    where payouts.state = 'held'`;
  return count === 1;
}

/** Takes it away again: the sweep is not on the chain any more. False if so much is not held any more. */
export async function unholdSwept(
  tx: Tx,
  { paymentId, amount }: Pick<Payout, 'paymentId' | 'amount'>,
  at: Date,
): Promise<boolean> {
  const { count: deleted } = await tx`
    delete from payouts where payment_id = ${paymentId} and state = 'held' and amount = ${amount}::numeric`;
  if (deleted === 1) return true;
  const { count } = await tx`
    update payouts set amount = amount - ${amount}::numeric, updated_at = ${at}
    where payment_id = ${paymentId} and state = 'held' and amount > ${amount}::numeric`;
  return count === 1;
}
