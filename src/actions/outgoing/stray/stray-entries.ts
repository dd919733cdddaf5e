import { coinOf } from '../../../chains/coin.ts';
import {
  coinReceivedEntry,
  coinReturnEntry,
  type Entry,
  type Proof,
  strayReceivedEntry,
  strayReturnEntry,
} from '../../../domain/books.ts';
import type { NewStray } from '../../../store/money/strays.ts';

type BookedStray = Pick<NewStray, 'id' | 'network' | 'asset' | 'merchantId' | 'source' | 'account' | 'isBooked'>;

/** Identifies unexpected money in the books. */
export function aboutStray({
  id,
  network,
  asset,
  merchantId,
}: Pick<NewStray, 'id' | 'network' | 'asset' | 'merchantId'>) {
  return { network, asset, subject: id, reference: id, merchantId };
}

/** True for coin, which is mixed with the account's gas money. */
export function isGasMoney({ source, asset, network }: Pick<NewStray, 'source' | 'asset' | 'network'>): boolean {
  return source === 'transfer' && asset === coinOf(network);
}

/** The entries of new unexpected money; with negative units, of money that was claimed. */
export function strayReceivedEntries(stray: BookedStray, units: bigint, proof: Partial<Proof>): Entry[] {
  const about = aboutStray(stray);
  if (isGasMoney(stray)) return [coinReceivedEntry(about, stray.account, units, proof)];
  // Only tokens on the intermediate account are in the books. A late payment has other entries.
  return stray.isBooked && stray.source === 'transfer' ? [strayReceivedEntry(about, units, proof)] : [];
}

export function strayReturnEntries(
  step: 'sent' | 'done' | 'failed',
  stray: BookedStray,
  { units, proof }: { units: bigint; proof?: Proof | undefined },
): Entry[] {
  const about = aboutStray(stray);
  if (isGasMoney(stray)) return [coinReturnEntry(step, about, { signer: stray.account, units, proof })];
  return stray.isBooked ? [strayReturnEntry(step, about, { units, proof })] : [];
}
