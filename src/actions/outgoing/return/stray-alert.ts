import { amountText } from '../../../chains/amount-text.ts';
import type { Registry } from '../../../chains/registry.ts';
import { type NewUnexpectedMoney, sumOpenTransfers } from '../../../store/money/unexpected-money.ts';
import { deleteAlert, upsertAlert } from '../../../store/plumbing/alerts.ts';
import type { Tx } from '../../../store/plumbing/database.ts';

/** The maximum number of transfers that are counted, because anybody can send any number of them. */
const MAX_COUNTED = 1_000;

type Arrived = Pick<NewUnexpectedMoney, 'id' | 'account' | 'asset'>;

/** The subject of the alert about unexpected money. All such money of one account in one asset has one alert. */
export function strayAlertSubject({ account, asset }: Pick<Arrived, 'account' | 'asset'>): string {
  return `${account} ${asset}`;
}

/** Raises the alert about the unexpected money of an account. The message names the transfer that was stored last. */
export async function raiseStrayAlert(
  tx: Tx,
  registry: Registry,
  last: Arrived & Pick<NewUnexpectedMoney, 'amount' | 'sender'>,
  at: Date,
): Promise<void> {
  const { account, asset, amount, sender } = last;
  const { count, units } = await sumOpenTransfers(tx, { account, asset, limit: MAX_COUNTED });
  const more = count >= MAX_COUNTED ? `${MAX_COUNTED} transfers or more` : `${count} transfers`;
  const all = count > 1 ? ` ${more}, of ${amountText(registry, asset, units)} together, wait there.` : '';
  const message = `${amountText(registry, asset, amount)} came to ${account} from ${sender}, and belongs to no payment.${all} See till strays list, till float add and till strays return.`;
  await upsertAlert(tx, { name: 'stray_money', subject: strayAlertSubject(last), message, lastSeen: at });
}

/** Ends the alert if the account has no more unexpected money in the asset. Older versions had one alert for each transfer. */
export async function endStrayAlert(tx: Tx, arrived: Arrived): Promise<void> {
  await deleteAlert(tx, { name: 'stray_money', subject: arrived.id });
  const { count } = await sumOpenTransfers(tx, { ...arrived, limit: 1 });
  if (count === 0) await deleteAlert(tx, { name: 'stray_money', subject: strayAlertSubject(arrived) });
}
