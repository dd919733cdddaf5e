import { OPERATOR_FLOAT, signedFeeEntry } from '../../../../domain/books.ts';
import { changeFloats } from '../../../../store/money/floats.ts';
import { clearFeeReturn, findFeesToReturn, lockOutgoing } from '../../../../store/money/outgoing.ts';
import type { Tx } from '../../../../store/plumbing/database.ts';
import { recordEntries } from '../../../books/record.ts';
import { type CommandDeps, command } from '../../../command.ts';
import { aboutOutgoing } from '../../about-outgoing.ts';
import { takeFromFloats } from '../../float/take-from-floats.ts';

const MAX_RETURNED = 200;

/**
 * Moves the fees of final refunds that merchants have signed for from the operator's float to the merchants' floats. A fee
 * that the float does not cover waits. Returns true if there are more.
 */
export async function returnFees(deps: CommandDeps): Promise<boolean> {
  const ids = await findFeesToReturn(deps.db.sql, MAX_RETURNED);
  for (const id of ids) await command(deps, (tx, now) => returnFee(tx, id, now));
  return ids.length === MAX_RETURNED;
}

async function returnFee(tx: Tx, id: string, at: Date): Promise<void> {
  const outgoing = await lockOutgoing(tx, id);
  const units = BigInt(outgoing?.feeReturn ?? '0');
  // Another node has returned it, or a deep reorg has taken the refund back.
  if (outgoing?.state !== 'paid' || outgoing.merchantId === null || units === 0n) return;
  const { network, asset, merchantId } = outgoing;
  // Not the refund's own position in the books, and not its cover: those are compared with the chain.
  const reference = `${id}/fee`;
  const change = { network, asset, subject: reference } as const;
  const parts = [{ owner: OPERATOR_FLOAT, units }];
  const taken = await takeFromFloats(tx, { ...change, kind: 'covered', parts }, at);
  if (!taken.ok) return;
  await changeFloats(tx, [{ ...change, kind: 'added', owner: merchantId, units }], at);
  await recordEntries(tx, [signedFeeEntry({ ...aboutOutgoing(outgoing), reference }, units)], at);
  await clearFeeReturn(tx, id);
}
