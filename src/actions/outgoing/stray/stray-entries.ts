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

/** How the books name a stray. */
export function aboutStray({
  id,
  network,
  asset,
  merchantId,
}: Pick<NewStray, 'id' | 'network' | 'asset' | 'merchantId'>) {
  return { network, asset, subject: id, reference: id, merchantId };
}

/** Coin that somebody sent to an account of ours: it lies with what the account has for gas. */
export function isGasMoney({ source, asset, network }: Pick<NewStray, 'source' | 'asset' | 'network'>): boolean {
  return source === 'transfer' && asset === coinOf(network);
}

/** What a stray that came, or below zero one that is a stray no more, changes in the books. */
export function strayReceivedEntries(stray: BookedStray, units: bigint, proof: Partial<Proof>): Entry[] {
  const about = aboutStray(stray);
  if (isGasMoney(stray)) return [coinReceivedEntry(about, stray.account, units, proof)];
  // Of tokens, only those on the intermediate account are in the books; a late payment got there by its own entry.
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
