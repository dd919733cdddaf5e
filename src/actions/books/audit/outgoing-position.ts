import {
  floatReturnEntry,
  type Line,
  payoutEntry,
  positionOf,
  refundCoveredEntry,
  refundEntry,
  signedRefundEntry,
  unexpectedCoveredEntry,
} from '../../../domain/books.ts';
import type { ComparedOutgoing } from '../../../store/money/book-outgoing.ts';
import { aboutOutgoing } from '../../outgoing/order/about-outgoing.ts';
import { bookedCover, coverOfReturn } from '../../outgoing/return/cover-return.ts';
import {
  aboutUnexpected,
  unexpectedReceivedEntries,
  unexpectedReturnEntries,
} from '../../outgoing/return/unexpected-entries.ts';

/** The sums on each account that the book entries of a completed payout, refund or return must have. */
export function outgoingPosition(outgoing: ComparedOutgoing): Line[] {
  const { purpose, signer, floatOwner, cover, unexpected } = outgoing;
  const about = aboutOutgoing(outgoing);
  const units = BigInt(outgoing.amount);
  if (purpose === 'payout') return positionOf([payoutEntry('sent', about, units), payoutEntry('done', about, units)]);
  if (signer === 'merchant') return positionOf([signedRefundEntry(about, units)]);
  if (purpose === 'refund') {
    const [payable, merchantFloat, operatorFloat] = [cover?.held, cover?.merchant, cover?.operator].map((part) =>
      BigInt(part ?? 0),
    ) as [bigint, bigint, bigint];
    return positionOf([
      refundCoveredEntry(about, { payable, merchantFloat, operatorFloat }),
      refundEntry('sent', about, units),
      refundEntry('done', about, units),
    ]);
  }
  if (floatOwner !== null) {
    const float = { owner: floatOwner, units };
    return positionOf([floatReturnEntry('sent', about, float), floatReturnEntry('done', about, float)]);
  }
  if (unexpected === null) return [];
  const stored = coverOfReturn(unexpected, BigInt(outgoing.fromLots));
  return positionOf([
    ...unexpectedReceivedEntries(unexpected, units, {}),
    unexpectedCoveredEntry(
      { ...aboutUnexpected(unexpected), merchantId: stored.merchantId },
      bookedCover(unexpected, stored),
    ),
    ...unexpectedReturnEntries('sent', unexpected, { units }),
    ...unexpectedReturnEntries('done', unexpected, { units }),
  ]);
}
