import type { PaymentStatus } from '../../domain/payment.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

/** A payment of a sandbox whose requested outcome has not been produced yet. */
export interface OpenRehearsal {
  readonly paymentId: string;
  readonly outcome: string;
  /** The block chosen to be replaced. */
  readonly block: RehearsedBlock | null;
  readonly status: PaymentStatus;
}

export interface RehearsedBlock {
  readonly number: number;
  readonly hash: string;
}

/** An existing rehearsal stays unchanged. */
export async function insertRehearsal(
  tx: Tx,
  { paymentId, outcome }: Pick<OpenRehearsal, 'paymentId' | 'outcome'>,
): Promise<void> {
  await tx`insert into rehearsals (payment_id, outcome) values (${paymentId}, ${outcome}) on conflict do nothing`;
}

/** Rehearsals whose payments have left `requires_action`. */
export function findOpenRehearsals(db: Reader, limit: number): Promise<OpenRehearsal[]> {
  return db<OpenRehearsal[]>`
    select r.payment_id as "paymentId", r.outcome, r.block, p.status
    from rehearsals r join payments p on p.id = r.payment_id
    where r.staged_at is null and p.status <> 'requires_action' order by r.payment_id limit ${limit}`;
}

/** Stores the block, unless one was chosen before. */
export async function chooseBlock(tx: Tx, paymentId: string, block: RehearsedBlock): Promise<void> {
  await tx`update rehearsals set block = ${tx.json(block as never)} where payment_id = ${paymentId} and block is null`;
}

export async function markStaged(tx: Tx, paymentId: string, at: Date): Promise<void> {
  await tx`update rehearsals set staged_at = ${at} where payment_id = ${paymentId} and staged_at is null`;
}
