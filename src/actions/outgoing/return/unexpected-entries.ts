import {
  coinReceivedEntry,
  coinReturnEntry,
  type Entry,
  type Proof,
  unexpectedReceivedEntry,
  unexpectedReturnEntry,
} from '../../../domain/books.ts';
import type { NewUnexpectedMoney } from '../../../store/money/unexpected-money.ts';

type BookedUnexpected = Pick<
  NewUnexpectedMoney,
  'id' | 'network' | 'asset' | 'merchantId' | 'source' | 'account' | 'isBooked'
>;

/** Identifies unexpected money in the books. */
export function aboutUnexpected({
  id,
  network,
  asset,
  merchantId,
}: Pick<NewUnexpectedMoney, 'id' | 'network' | 'asset' | 'merchantId'>) {
  return { network, asset, subject: id, reference: id, merchantId };
}

/** True for native coin that a transfer brought, because it is mixed with the account's gas money. */
export function isMixedCoin({ source, asset }: Pick<NewUnexpectedMoney, 'source' | 'asset'>): boolean {
  return source === 'transfer' && asset.includes('/slip44:');
}

/** The book entries of new unexpected money. Negative `units` give the entries that take the money out again when it is claimed. */
export function unexpectedReceivedEntries(unexpected: BookedUnexpected, units: bigint, proof: Partial<Proof>): Entry[] {
  const about = aboutUnexpected(unexpected);
  if (isMixedCoin(unexpected)) return [coinReceivedEntry(about, unexpected.account, units, proof)];
  // Only tokens on the intermediate account are in the books. A late payment has other entries.
  return unexpected.isBooked && unexpected.source === 'transfer' ? [unexpectedReceivedEntry(about, units, proof)] : [];
}

export function unexpectedReturnEntries(
  step: 'sent' | 'done' | 'failed',
  unexpected: BookedUnexpected,
  { units, proof }: { units: bigint; proof?: Proof | undefined },
): Entry[] {
  const about = aboutUnexpected(unexpected);
  if (isMixedCoin(unexpected)) return [coinReturnEntry(step, about, { signer: unexpected.account, units, proof })];
  return unexpected.isBooked ? [unexpectedReturnEntry(step, about, { units, proof })] : [];
}
