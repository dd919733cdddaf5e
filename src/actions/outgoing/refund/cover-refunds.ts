import { OPERATOR_FLOAT, refundCoveredEntry, refundEntry } from '../../../domain/books.ts';
import type { Screening } from '../../../screening/screening.ts';
import { findOutgoing } from '../../../store/money/outgoing.ts';
import { findCoverable, lockFreeRefund, type Refund } from '../../../store/money/refunds.ts';
import { deleteAlert } from '../../../store/plumbing/alerts.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { recordEntries } from '../../books/record.ts';
import { type CommandDeps, command } from '../../command.ts';
import { shareFreezes } from '../../parties/freeze-heads.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import type { SubjectKeyDeps } from '../../subject-keys.ts';
import { type Lack, lackText, takeFromFloats } from '../float/take-from-floats.ts';
import { orderOutgoing } from '../order-outgoing.ts';
import { alertOfWait } from './alert-of-wait.ts';
import { aboutRefund, moveRefund } from './move-refund.ts';
import { screenRefund } from './screen-refund.ts';
import { isForgotten } from './signed/forgotten-refund.ts';

const MAX_COVERED = 200;

/** Covers refunds from held amounts and floats, and begins those that are covered. Returns true if there are more. */
type CoverDeps = CommandDeps & RowKeyDeps & SubjectKeyDeps & { readonly screening: Screening };

export async function coverRefunds(deps: CoverDeps): Promise<boolean> {
  const ids = await findCoverable(deps.db.sql, { limit: MAX_COVERED, now: new Date(deps.world.clock.nowMs()) });
  for (const id of ids) {
    await command(deps, (tx, now) => cover(tx, deps, id, now));
    deps.world.crashPoint?.('refund.covered');
  }
  return ids.length === MAX_COVERED;
}

/** A refund is covered wholly or not at all: a float that covers a part is left for refunds it covers wholly. */
async function cover(tx: Tx, deps: CoverDeps, id: string, at: Date): Promise<void> {
  await shareFreezes(tx, deps);
  const refund = await lockFreeRefund(tx, { id, now: at });
  if (refund?.state !== 'requested' && refund?.state !== 'awaiting_funds') return;
  // The merchant's account was asked to sign for it. That must have run out before a float pays.
  if ((await findOutgoing(tx, id)) !== undefined || (await isForgotten(tx, deps, refund, at))) return;
  if (await screenRefund(tx, deps.screening, { refund, actor: 'payer-out', at })) {
    await deleteAlert(tx, { name: 'refund_awaiting_funds', subject: id });
    return;
  }
  const taken = await takeFromFloats(
    tx,
    {
      network: refund.network,
      asset: refund.asset,
      subject: refund.id,
      kind: 'covered',
      parts: [
        { owner: refund.merchantId, units: BigInt(refund.fromMerchant) },
        { owner: OPERATOR_FLOAT, units: BigInt(refund.fromOperator) },
      ],
    },
    at,
  );
  if (taken.ok) await send(tx, deps, refund, at);
  else if (refund.state === 'requested') await wait(tx, refund, taken.missing, at);
}

async function send(tx: Tx, deps: RowKeyDeps, refund: Refund, at: Date): Promise<void> {
  const { id, network, asset, method, account, recipient, merchantId, fromHeld, fromMerchant, fromOperator } = refund;
  const evidence = { held: fromHeld, merchantFloat: fromMerchant, operatorFloat: fromOperator };
  await moveRefund(tx, refund, { event: 'covered', actor: 'payer-out', evidence }, at);
  const amount = BigInt(refund.amount);
  const outgoing = { id, purpose: 'refund', network, asset, method, payer: account, recipient, amount } as const;
  const begun = await orderOutgoing(tx, deps, [{ ...outgoing, merchantId, floatOwner: null }], at);
  if (begun.length !== 1) throw new Error('A refund is on its way already.');
  const taken = { payable: BigInt(fromHeld), merchantFloat: BigInt(fromMerchant), operatorFloat: BigInt(fromOperator) };
  const about = aboutRefund(refund);
  await recordEntries(tx, [refundCoveredEntry(about, taken), refundEntry('sent', about, amount)], at);
  await deleteAlert(tx, { name: 'refund_awaiting_funds', subject: id });
}

async function wait(tx: Tx, refund: Refund, missing: readonly Lack[], at: Date): Promise<void> {
  const problem = lackText(refund.asset, missing);
  const evidence = { missing: missing.map(({ owner }) => owner) };
  await moveRefund(tx, refund, { event: 'short', actor: 'payer-out', evidence, problem }, at);
  await alertOfWait(tx, refund, problem, at);
}
