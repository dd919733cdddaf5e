import { ACCOUNTS } from '../../src/domain/books.ts';
import type { Holdings } from '../../src/domain/money/holding.ts';
import { bookedPosition, type Posting } from '../../src/domain/money/position-entries.ts';

/** The position of a payment with the entries of its orders, as the gateway books them one by one. */
export function wholePosition(merchant: string, holdings: Holdings): readonly Posting[] {
  const payment = holdings.lots[0]?.payment ?? holdings.spends[0]?.payment ?? '';
  const orders = holdings.spends.map(({ order, lot, network, asset, amount, purpose, isDone }): Posting => {
    const target = purpose === 'payout' ? ACCOUNTS.settled(merchant) : ACCOUNTS.payer;
    const lines = [
      { account: ACCOUNTS.payable(merchant), units: -amount },
      { account: isDone ? target : ACCOUNTS.outgoing, units: amount },
    ];
    return { network, asset, reference: `${order} ${lot}`, lines };
  });
  return [...bookedPosition({ payment, merchant }, holdings), ...orders];
}
