import { heldToFloatEntry } from '../../domain/books.ts';
import { changeFloats } from '../../store/money/floats.ts';
import type { Payment } from '../../store/payments/payments.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { recordEntries } from './record.ts';

/**
 * Turns units of a held amount into a float of the merchant. A payment has one payout, of the money that paid it, so only
 * refunds can still use these units.
 */
export async function moveHeldToFloat(
  tx: Tx,
  { payment, asset, units }: { payment: Pick<Payment, 'id' | 'merchantId'>; asset: string; units: bigint },
  at: Date,
): Promise<void> {
  if (units === 0n) return;
  const { id: subject, merchantId } = payment;
  const [network = ''] = asset.split('/');
  await changeFloats(tx, [{ owner: merchantId, network, asset, units, kind: 'added', subject }], at);
  const about = { network, asset, subject, reference: subject, merchantId };
  await recordEntries(tx, [heldToFloatEntry(about, units)], at);
}
