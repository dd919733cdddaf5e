import type { ConnectedChain } from '../../../chains/chains.ts';
import type { Registry, RegistryDeps } from '../../../chains/registry.ts';
import { isSameAddress } from '../../../domain/addresses/families.ts';
import { paymentIdOf } from '../../../domain/ids.ts';
import { findPayingItem } from '../../../store/chain/items.ts';
import { findRefund } from '../../../store/money/refunds.ts';
import { findPaymentSettlement } from '../../../store/payments/payment-settlements.ts';
import type { Reader } from '../../../store/plumbing/database.ts';
import { askReceipt } from '../../evidence.ts';
import { ownAccounts } from '../../own-accounts.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import type { PaidEvent } from '../audit/paid-event.ts';

/** True if the event has the id of a refund. Anybody can cause such an event. */
export function isNamedRefund(registry: Registry, { id, asset }: PaidEvent): boolean {
  return id.startsWith('rfnd_') && registry.asset(asset) !== undefined;
}

/**
 * True if the account that received a payment has paid a refund of it. That account can pay anybody with any id, so the money must
 * also have gone to the payer or to the recipient of a stored refund, or one of our accounts must have sent the transaction.
 */
export async function isSignedRefund(
  deps: RowKeyDeps & RegistryDeps & { readonly db: { readonly sql: Reader } },
  connected: ConnectedChain,
  event: PaidEvent,
): Promise<boolean> {
  if (!isNamedRefund(deps.registry, event)) return false;
  const { db } = deps;
  const { id } = event;
  const paymentId = paymentIdOf(id);
  const settlement = await findPaymentSettlement(db.sql, paymentId);
  if (
    settlement === undefined ||
    !isSameAddress(event.asset, settlement.recipient, event.payer) ||
    settlement.asset !== event.asset
  ) {
    return false;
  }
  const [paid, refund] = await Promise.all([findPayingItem(db.sql, paymentId), findRefund(db.sql, id)]);
  const recipients = [paid?.payer, refund?.recipient];
  if (recipients.some((account) => account !== undefined && isSameAddress(event.asset, account, event.recipient)))
    return true;
  const receipt = await askReceipt(connected.chain.reader, event.transactionHash);
  return (
    receipt !== undefined &&
    (await ownAccounts(deps, connected)).some((account) => isSameAddress(event.asset, account, receipt.from))
  );
}
