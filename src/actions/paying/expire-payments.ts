import type { PaymentFeed } from '../../store/payments/payment-feed.ts';
import { expireDue } from '../../store/payments/payments.ts';
import { type CommandDeps, commandOfOne } from '../command.ts';

const BATCH = 500;

/** Ends payments whose time is over. Whether there may be more. */
export async function expirePayments(deps: CommandDeps & { feed: PaymentFeed }): Promise<boolean> {
  const ids = await commandOfOne(deps, (tx, now) => expireDue(tx, { now, limit: BATCH }));
  deps.feed.announce(ids);
  return ids.length === BATCH;
}
