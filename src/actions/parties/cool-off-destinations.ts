import { ApiError } from '../../errors.ts';
import {
  type CooledTurn,
  type CryptoSettlement,
  findDestinationRows,
  lockCooledOff,
  lockCryptoSettlement,
  type StoredDestination,
} from '../../store/parties/destinations.ts';
import { isRestoring } from '../../store/parties/freezes.ts';
import { lockMerchant } from '../../store/parties/merchants.ts';
import { appendAudit } from '../../store/plumbing/audit-log.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { type CommandDeps, command } from '../command.ts';
import type { RowKeyDeps } from '../row-keys.ts';
import { settlementNotFound } from './change-destinations.ts';
import { eraseDestination, ownDestinations, refuseForged, writeDestination } from './destination-rows.ts';
import { shareFreezes } from './freeze-heads.ts';
import { logDestinations } from './log-destinations.ts';

const MAX_APPLIED = 100;
const ACTOR = 'cooling-off';

/**
 * Creates the job that applies changes of destinations whose cooling-off period is over. A run returns true if there are more. Each
 * run continues where the last one stopped.
 */
export function createCoolOff(deps: CommandDeps & RowKeyDeps): () => Promise<boolean> {
  let after: CooledTurn | undefined;
  return async () => {
    const { last, applied } = await applyCooledOff(deps, after);
    after = last;
    return last !== undefined && applied > 0;
  };
}

/**
 * Applies one page of changes whose cooling-off period is over. After a restore from a backup no change is applied until the rebuild, so
 * that people have time to repeat vetoes that are missing in the backup.
 */
function applyCooledOff(deps: CommandDeps & RowKeyDeps, after: CooledTurn | undefined) {
  return command(deps, async (tx, now) => {
    await shareFreezes(tx, deps);
    if (await isRestoring(tx)) return { last: after, applied: 0 };
    const { rows: due, last } = await lockCooledOff(tx, { now, after, limit: MAX_APPLIED });
    const rows = due.map((settlement) => ({ settlement }));
    const cooled = await ownDestinations(tx, deps, rows, now);
    for (const { settlement } of cooled) {
      const { id, merchantId, asset, destination: before, pendingDestination: after } = settlement;
      if (after === null) throw new Error('A change has a time to apply and no destination.');
      const changed = { ...settlement, destination: after, pendingDestination: null, effectiveAt: null };
      await writeDestination(tx, deps, changed, now);
      await logDestinations(tx, [changed], { actor: ACTOR, at: now });
      const detail = { id, asset, before, after };
      await appendAudit(tx, { at: now, actor: ACTOR, action: 'settlement.changed', subject: merchantId, detail });
    }
    return { last, applied: cooled.length };
  });
}

export interface OverruleInput {
  readonly settlementId: string;
  readonly reason: string;
  readonly actor: string;
}

/** Rejects a change of a destination during its cooling-off period. The destination in force stays. */
export function vetoDestination(
  deps: CommandDeps & RowKeyDeps,
  { settlementId, reason, actor }: OverruleInput,
): Promise<CryptoSettlement> {
  return command(deps, async (tx, now) => {
    const settlement = await lockSettlementOfAny(tx, settlementId);
    const { id, merchantId, asset, destination, pendingDestination } = settlement;
    if (pendingDestination === null) {
      throw new ApiError('invalid_state', `No change of ${id} cools off: see till destinations pending.`);
    }
    refuseForged(deps, settlement);
    const { mac: _, ...terms } = settlement;
    const kept = { ...terms, pendingDestination: null, effectiveAt: null };
    await writeDestination(tx, deps, kept, now);
    await logDestinations(tx, [kept], { type: 'vetoed', actor, at: now });
    const detail = { id, asset, destination, vetoed: pendingDestination, reason };
    await appendAudit(tx, { at: now, actor, action: 'settlement.vetoed', subject: merchantId, detail });
    return kept;
  });
}

/**
 * Removes a destination that an attacker has put in force. A destination that the merchant removes stays in force while the next one
 * cools off. After this removal, however, the next destination counts as the first of the asset, so the attacker's account gets
 * nothing more. Payouts that are not signed yet are held again.
 */
export function expelDestination(
  deps: CommandDeps & RowKeyDeps,
  { settlementId, reason, actor }: OverruleInput,
): Promise<CryptoSettlement> {
  return command(deps, async (tx, now) => {
    const { mac: _, ...settlement } = await lockSettlementOfAny(tx, settlementId);
    const { id, merchantId, asset, destination } = settlement;
    await eraseDestination(tx, deps, settlement, now);
    await logDestinations(tx, [settlement], { actor, at: now, isRemoved: true });
    const detail = { id, asset, destination, reason };
    await appendAudit(tx, { at: now, actor, action: 'settlement.expelled', subject: merchantId, detail });
    return settlement;
  });
}

/** Locks a destination of any merchant, for operators. The merchant is locked first. */
async function lockSettlementOfAny(tx: Tx, id: string): Promise<StoredDestination> {
  const [found] = await findDestinationRows(tx, [id]);
  const merchant = found && (await lockMerchant(tx, found.merchantId));
  const settlement = merchant && (await lockCryptoSettlement(tx, merchant, id));
  if (settlement === undefined) throw settlementNotFound(id);
  return settlement;
}
