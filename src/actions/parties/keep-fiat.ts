import { newId } from '../../domain/ids.ts';
import { ApiError } from '../../errors.ts';
import {
  deleteFiatSettlement,
  type FiatSettlement,
  findFiatSettlement,
  insertFiatSettlement,
} from '../../store/parties/destinations.ts';
import { lockMerchant } from '../../store/parties/merchants.ts';
import { appendAudit } from '../../store/plumbing/audit-log.ts';
import { type CommandDeps, command } from '../command.ts';
import { lockLivingMerchant } from './change-merchant.ts';
import { logDestinations } from './log-destinations.ts';

/** Adds a fiat destination. The operator maintains fiat destinations; partners only read them. */
export function addFiatSettlement(
  deps: CommandDeps,
  input: { actor: string; merchantId: string; bankType: string; status: FiatSettlement['status'] },
): Promise<FiatSettlement> {
  return command(deps, async (tx, now) => {
    const { actor, ...fields } = input;
    await lockLivingMerchant(tx, null, input.merchantId);
    const settlement = { ...fields, id: newId('fiat_', now.getTime(), deps.world.random.bytes(10)) };
    await insertFiatSettlement(tx, { ...settlement, createdAt: now });
    await logDestinations(tx, [settlement], { actor, at: now });
    await appendAudit(tx, { at: now, actor, action: 'fiat.added', subject: input.merchantId, detail: settlement });
    return settlement;
  });
}

export function removeFiatSettlement(deps: CommandDeps, input: { actor: string; settlementId: string }): Promise<void> {
  return command(deps, async (tx, now) => {
    const id = input.settlementId;
    const found = await findFiatSettlement(tx, id);
    if (found !== undefined) await lockMerchant(tx, found.merchantId);
    const removed = await deleteFiatSettlement(tx, id);
    if (removed === undefined) {
      throw new ApiError('invalid_params', `There is no fiat settlement ${id}.`, { status: 404 });
    }
    await logDestinations(tx, [removed], { actor: input.actor, at: now, isRemoved: true });
    const detail = { before: removed, after: null };
    await appendAudit(tx, { at: now, actor: input.actor, action: 'fiat.removed', subject: removed.merchantId, detail });
  });
}
