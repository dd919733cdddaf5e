import type { StoredMovement } from '../../src/store/chain/movements.ts';
import type { DustLimits } from '../../src/store/chain/place-checkpoints.ts';

type Counted = Pick<
  StoredMovement,
  'network' | 'commitment' | 'asset' | 'isScreened' | 'source' | 'at' | 'transactionHash' | 'amount'
>;

/** A movement, or dust that was added up, by its first transaction. */
export interface Walked {
  readonly transactionHash: string;
  amount: bigint;
}

/** What the database adds up, by a walk over all movements in their order: dust joins the movement before it if that is dust, too. */
export function walkDust(movements: readonly Counted[], dustBelow: DustLimits, deadline: Date): Walked[] {
  const walked: Walked[] = [];
  const dust = new Map<string, Walked | undefined>();
  for (const { network, commitment, asset, isScreened, source, at, transactionHash, amount } of movements) {
    const line = [network, commitment, asset, isScreened, source, at <= deadline].join(' ');
    const isDust = BigInt(amount) < (dustBelow[asset] ?? 0n);
    const before = isDust ? dust.get(line) : undefined;
    if (before !== undefined) {
      before.amount += BigInt(amount);
      continue;
    }
    const first = { transactionHash, amount: BigInt(amount) };
    walked.push(first);
    dust.set(line, isDust ? first : undefined);
  }
  return walked;
}
