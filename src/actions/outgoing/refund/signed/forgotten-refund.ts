import { amountText } from '../../../../chains/amount-text.ts';
import type { RegistryDeps } from '../../../../chains/registry.ts';
import { isSameAddress } from '../../../../domain/addresses/families.ts';
import { findPayingItem } from '../../../../store/chain/items.ts';
import { findForgotten } from '../../../../store/money/forgotten-events.ts';
import type { Refund } from '../../../../store/money/refunds.ts';
import { findPaymentSettlement } from '../../../../store/payments/payment-settlements.ts';
import { upsertAlert } from '../../../../store/plumbing/alerts.ts';
import type { Tx } from '../../../../store/plumbing/database.ts';
import { shownHeads } from '../../../event-subject.ts';
import { provingAssets } from '../../../own-transfer.ts';
import type { SubjectKeyDeps } from '../../../subject-keys.ts';

/**
 * True if the chain shows that the merchant's account has paid a refund with this id, and the database, restored from an older
 * backup, does not know it. The refund is then neither covered nor offered until `rebuild` has stored the transfer. The account can
 * pay anybody with any id, so only a transfer to the payer, or to the refund's recipient, counts.
 */
export async function isForgotten(
  tx: Tx,
  deps: SubjectKeyDeps & RegistryDeps,
  refund: Refund,
  at: Date,
): Promise<boolean> {
  const { id, paymentId, network } = refund;
  const settlement = await findPaymentSettlement(tx, paymentId);
  if (settlement === undefined) return false;
  const event = await findForgotten(tx, {
    network,
    assets: provingAssets(deps.registry, network),
    subjects: shownHeads(deps, id),
    payers: [settlement.recipient],
  });
  if (event === undefined) return false;
  const paid = await findPayingItem(tx, paymentId);
  const recipients = [refund.recipient, ...(paid === undefined ? [] : [paid.payer])];
  if (!recipients.some((account) => isSameAddress(network, account, event.recipient))) return false;
  const message = `The merchant's account ${event.payer} has paid ${amountText(deps.registry, event.asset, event.amount)} for it by transaction ${event.transactionHash}, which the database does not know. It is not paid again. Run till rebuild from block ${event.blockNumber} or an earlier one.`;
  await upsertAlert(tx, { name: 'forgotten_outgoing', subject: id, message, lastSeen: at });
  return true;
}
