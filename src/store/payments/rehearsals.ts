import type { PaymentStatus } from '../../domain/payment.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

/** A payment of a sandbox whose requested outcome has not been produced yet. */
export interface OpenRehearsal {
  readonly paymentId: string;
  readonly outcome: string;
  /** The block that the sandbox has chosen to replace by a reorg. Null before the choice. */
  readonly block: RehearsedBlock | null;
  readonly status: PaymentStatus;
}

export interface RehearsedBlock {
  readonly number: number;
  readonly hash: string;
}

/** Stores the requested outcome of a payment. An outcome that is already stored stays unchanged. */
export async function insertRehearsal(
  tx: Tx,
  { paymentId, outcome }: Pick<OpenRehearsal, 'paymentId' | 'outcome'>,
): Promise<void> {
  await tx`insert into rehearsals (payment_id, outcome) values (${paymentId}, ${outcome}) on conflict do nothing`;
}

/** Outcomes that are still to be produced, of payments that have left `requires_action`. */
export function findOpenRehearsals(db: Reader, limit: number): Promise<OpenRehearsal[]> {
  return db<OpenRehearsal[]>`
    select r.payment_id as "paymentId", r.outcome, r.block, p.status
    from rehearsals r join payments p on p.id = r.payment_id
    where r.staged_at is null and p.status <> 'requires_action' order by r.payment_id limit ${limit}`;
}

/** Stores the block that the sandbox has chosen to replace, unless it has chosen one before. */
export async function chooseBlock(tx: Tx, paymentId: string, block: RehearsedBlock): Promise<void> {
  await tx`update rehearsals set block = ${tx.json(block as never)} where payment_id = ${paymentId} and block is null`;
}

export async function markStaged(tx: Tx, paymentId: string, at: Date): Promise<void> {
  await tx`update rehearsals set staged_at = ${at} where payment_id = ${paymentId} and staged_at is null`;
}
