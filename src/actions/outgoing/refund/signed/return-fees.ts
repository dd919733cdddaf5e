import { tokenText } from '../../../../chains/amount-text.ts';
import type { Registry } from '../../../../chains/registry.ts';
import { OPERATOR_FLOAT, signedFeeEntry } from '../../../../domain/books.ts';
import { changeFloats, lockFloats } from '../../../../store/money/floats.ts';
import {
  findFeesToReturn,
  lockOutgoing,
  type Outgoing,
  postponeFeeReturn,
  setFeeReturn,
} from '../../../../store/money/outgoing.ts';
import { takenFor } from '../../../../store/money/restored-outgoing.ts';
import { deleteAlert, upsertAlert } from '../../../../store/plumbing/alerts.ts';
import type { Tx } from '../../../../store/plumbing/database.ts';
import { recordEntries } from '../../../books/record.ts';
import { type CommandDeps, command } from '../../../command.ts';
import { eachIsolated } from '../../../each-isolated.ts';
import { isElsewhere, takeFromFloats } from '../../float/take-from-floats.ts';
import { aboutOutgoing } from '../../order/about-outgoing.ts';

const MAX_RETURNED = 200;
const CHECK_AGAIN_MS = 60_000;

/**
 * Returns the fees of final refunds to the merchants who have signed for them: each fee moves from the operator's float to the merchant's
 * float. A fee that the operator's float does not cover waits. Returns true if there are more.
 */
export async function returnFees(deps: CommandDeps): Promise<boolean> {
  const now = new Date(deps.world.clock.nowMs());
  const ids = await findFeesToReturn(deps.db.sql, { now, limit: MAX_RETURNED });
  await eachIsolated(
    ids,
    (id) => command(deps, (tx, at) => returnFee(tx, id, at)),
    (id, error) => {
      const cause = error instanceof Error ? error.message : String(error);
      return command(deps, (tx, at) => postponeFee(tx, { id, cause }, at));
    },
  );
  return ids.length === MAX_RETURNED;
}

async function returnFee(tx: Tx, id: string, at: Date): Promise<void> {
  const outgoing = await lockOutgoing(tx, id);
  const units = BigInt(outgoing?.feeReturn ?? '0');
  // Another node has returned the fee, or a deep reorg removed the refund.
  if (outgoing?.state !== 'paid' || outgoing.merchantId === null || units === 0n) return;
  const { network, asset, merchantId } = outgoing;
  const reference = feeReference(id);
  const change = { network, asset, subject: reference } as const;
  const parts = [{ owner: OPERATOR_FLOAT, units }];
  const floats = await lockFloats(tx, asset, [merchantId, OPERATOR_FLOAT]);
  const account = floats.find(({ owner }) => owner === OPERATOR_FLOAT)?.account ?? null;
  // The whole float of a merchant is on one account, so a fee from another account waits.
  const elsewhere = floats.find((float) => float.owner === merchantId && isElsewhere(float, account));
  if (elsewhere !== undefined) {
    const cause = `the float of ${merchantId} is on the account ${elsewhere.account}, and the operator's float is on ${account}. Move the money of one of them by a transfer: the float follows.`;
    return postponeFee(tx, { id, cause }, at);
  }
  const taken = await takeFromFloats(tx, { ...change, kind: 'covered', parts, payer: account }, at);
  if (!taken.ok) return;
  const added = { ...change, kind: 'added', owner: merchantId, units } as const;
  await changeFloats(tx, [{ ...added, ...(account !== null && { account }) }], at);
  await recordEntries(tx, [signedFeeEntry({ ...aboutOutgoing(outgoing), reference }, units)], at);
  await setFeeReturn(tx, { id, units: 0n });
  await deleteAlert(tx, { name: 'outgoing_refused', subject: reference });
}

/** Postpones a fee that cannot be returned now. Other fees are not delayed. */
async function postponeFee(tx: Tx, { id, cause }: { readonly id: string; readonly cause: string }, at: Date) {
  await postponeFeeReturn(tx, { id, retryAt: new Date(at.getTime() + CHECK_AGAIN_MS) });
  const message = `The fee of this refund cannot be returned to its merchant: ${cause}`;
  await upsertAlert(tx, { name: 'outgoing_refused', subject: feeReference(id), message, lastSeen: at });
}

/**
 * The reference of a returned fee in the books. It differs from the refund's id, because the refund's own entries and cover are compared
 * with the chain.
 */
function feeReference(id: string): string {
  return `${id}/fee`;
}

/**
 * Moves the fee of a signed refund back from the merchant's float to the operator's, because a deep reorg removed the refund for good. If
 * the merchant has used the fee meanwhile, the rest is the operator's loss, which an alert reports. The merchant gets the fee again if
 * the refund is carried out again.
 */
export async function takeFeeBack(tx: Tx, registry: Registry, outgoing: Outgoing, at: Date): Promise<void> {
  const { id, network, asset, merchantId } = outgoing;
  const subject = feeReference(id);
  const given = (await takenFor(tx, subject)).get(OPERATOR_FLOAT) ?? 0n;
  if (given === 0n || merchantId === null) return;
  const floats = await lockFloats(tx, asset, [merchantId, OPERATOR_FLOAT]);
  const left = BigInt(floats.find(({ owner }) => owner === merchantId)?.units ?? '0');
  const units = left < given ? left : given;
  if (units < given) {
    const message = `A reorganisation deeper than final depth removed this refund after its fee was returned. The merchant ${merchantId} has used ${tokenText(registry, asset, given - units)} of the fee: the operator's float lacks them until the refund is carried out again.`;
    await upsertAlert(tx, { name: 'deep_reorg', subject, message, lastSeen: at });
  }
  if (units === 0n) return;
  const change = { network, asset, subject } as const;
  await changeFloats(
    tx,
    [
      { ...change, kind: 'added', owner: merchantId, units: -units },
      { ...change, kind: 'restored', owner: OPERATOR_FLOAT, units },
    ],
    at,
  );
  await recordEntries(tx, [signedFeeEntry({ ...aboutOutgoing(outgoing), reference: subject }, -units)], at);
  await setFeeReturn(tx, { id, units });
}
