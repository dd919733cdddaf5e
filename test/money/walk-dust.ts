import type { StoredMovement } from '../../src/store/chain/movements.ts';
import type { DustLimits } from '../../src/store/chain/place-checkpoints.ts';

type Counted = Pick<
  StoredMovement,
  | 'network'
  | 'commitment'
  | 'asset'
  | 'isScreened'
  | 'source'
  | 'at'
  | 'transactionHash'
  | 'amount'
  | 'blockNumber'
  | 'logIndex'
>;

/** A sweep of the address of the movements. */
export type CountedSweep = Pick<StoredMovement, 'network' | 'asset' | 'blockNumber' | 'logIndex'>;

/** A movement, or dust that was added up, by its first transaction. */
export interface Walked {
  readonly transactionHash: string;
  readonly first: bigint;
  amount: bigint;
}

/**
 * The sums of the database, by a walk over all movements in their order: dust joins the movement before it if that is dust, too, and no
 * sweep is between them.
 */
export function walkDust(
  movements: readonly Counted[],
  dustBelow: DustLimits,
  deadline: Date,
  sweeps: readonly CountedSweep[] = [],
): Walked[] {
  const walked: Walked[] = [];
  const dust = new Map<string, Walked | undefined>();
  for (const movement of movements) {
    const { network, commitment, asset, isScreened, source, at, transactionHash, amount } = movement;
    const before = sweeps.filter(
      (sweep) => sweep.network === network && sweep.asset === asset && isEarlier(sweep, movement),
    );
    const line = [network, commitment, asset, isScreened, source, at <= deadline, before.length].join(' ');
    const isDust = BigInt(amount) < (dustBelow[asset] ?? 0n);
    const open = isDust ? dust.get(line) : undefined;
    if (open !== undefined) {
      open.amount += BigInt(amount);
      continue;
    }
    const sum = { transactionHash, first: BigInt(amount), amount: BigInt(amount) };
    walked.push(sum);
    dust.set(line, isDust ? sum : undefined);
  }
  return walked;
}

function isEarlier(
  a: Pick<Counted, 'blockNumber' | 'logIndex'>,
  b: Pick<Counted, 'blockNumber' | 'logIndex'>,
): boolean {
  return a.blockNumber < b.blockNumber || (a.blockNumber === b.blockNumber && a.logIndex < b.logIndex);
}
