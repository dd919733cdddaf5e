import { OPERATOR_FLOAT } from '../../../domain/books.ts';
import { ApiError } from '../../../errors.ts';
import { findOutgoing } from '../../../store/money/outgoing.ts';
import { lockRefund, type Refund, setCover } from '../../../store/money/refunds.ts';
import { appendAudit } from '../../../store/plumbing/audit-log.ts';
import { type CommandDeps, command } from '../../command.ts';
import { type Lack, lackOfFloats } from '../float/take-from-floats.ts';
import { refundNotFound } from './retry-refund.ts';

export interface OperatorCover {
  readonly refund: Refund;
  readonly missing: Lack | undefined;
  /** The deadline of the merchant's signature request, if there is one. Floats cannot pay before it has expired. */
  readonly offeredUntil: Date | null;
}

/**
 * Assigns to the operator's float the part of a waiting refund that the merchant's float lacks on the account that pays. Nothing is
 * taken here: the worker takes the money as soon as the floats cover the refund.
 */
export function coverByOperator(
  deps: CommandDeps,
  { id, actor }: { id: string; actor: string },
): Promise<OperatorCover> {
  return command(deps, async (tx, at) => {
    const refund = await lockRefund(tx, id);
    if (refund === undefined) throw refundNotFound(id);
    if (refund.state !== 'requested' && refund.state !== 'awaiting_funds') {
      throw new ApiError('invalid_state', `The refund does not wait for funds: it is ${refund.state}.`);
    }
    const { asset, account: payer, merchantId } = refund;
    const wanted = BigInt(refund.fromMerchant);
    // The floats are locked in the order of `lockFloats`: that of a merchant, then the operator's.
    const [lack] = await lackOfFloats(tx, { asset, payer, parts: [{ owner: merchantId, units: wanted }] });
    const fromMerchant = wanted - (lack?.units ?? 0n);
    const fromOperator = BigInt(refund.fromOperator) + wanted - fromMerchant;
    const cover = { fromMerchant: fromMerchant.toString(), fromOperator: fromOperator.toString() };
    await setCover(tx, { id, ...cover });
    const before = { fromMerchant: refund.fromMerchant, fromOperator: refund.fromOperator };
    await appendAudit(tx, { at, actor, action: 'refund.covered', subject: id, detail: { before, after: cover } });
    const parts = [{ owner: OPERATOR_FLOAT, units: fromOperator }];
    const [missing] = await lackOfFloats(tx, { asset, payer, parts });
    const offeredUntil = (await findOutgoing(tx, id))?.deadline ?? null;
    return { refund: { ...refund, ...cover }, missing, offeredUntil };
  });
}
