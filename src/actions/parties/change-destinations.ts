import type { Chains } from '../../chains/chains.ts';
import { destinationProblem } from '../../chains/destinations.ts';
import type { Account, Asset } from '../../domain/caip.ts';
import { termsAfterChange, termsOfNew } from '../../domain/cooling-off.ts';
import { newId } from '../../domain/ids.ts';
import { ApiError, validationError } from '../../errors.ts';
import { type CryptoSettlement, lockCryptoSettlement } from '../../store/parties/destinations.ts';
import { findStopped } from '../../store/parties/freezes.ts';
import type { LockedMerchant, Owner } from '../../store/parties/merchants.ts';
import { appendAudit } from '../../store/plumbing/audit-log.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { type Answer, type CommandDeps, command, type IdempotentRequest, idempotentCommand } from '../command.ts';
import type { RowKeyDeps } from '../row-keys.ts';
import { lockLivingMerchant } from './change-merchant.ts';
import { lastDestinations } from './destination-memory.ts';
import { putDestinations, refuseForged, removeDestination, writeDestination } from './destination-rows.ts';
import { shareFreezes } from './freeze-heads.ts';
import { logDestinations } from './log-destinations.ts';
import { refuseOwnPlaces } from './refuse-own-places.ts';
import { refuseUnseen } from './refuse-unseen.ts';

interface SettlementInput {
  readonly owner: Owner;
  readonly actor: string;
  readonly merchantId: string;
}

export interface RegisterSettlementsInput extends SettlementInput {
  readonly settlements: readonly { readonly asset: Asset; readonly destination: Account }[];
  /** The cooling-off period of a destination that replaces a removed one. */
  readonly coolingOffMs: number;
}

/** Registers all given destinations, or none of them if one is refused. */
export function registerSettlements(
  deps: CommandDeps & RowKeyDeps,
  input: RegisterSettlementsInput,
  request: IdempotentRequest,
  answer: (settlements: readonly CryptoSettlement[]) => Answer,
) {
  return idempotentCommand(deps, request, async (tx, now) => {
    const merchant = await lockUnstoppedMerchant(tx, deps, input);
    const named = input.settlements.map(({ destination }, index) => ({
      field: `settlements[${index}].destination`,
      account: destination,
    }));
    await refuseOwnPlaces(tx, deps, named);
    const earlier = await lastDestinations(tx, deps, merchant.id);
    const period = { now, periodMs: input.coolingOffMs };
    const rows = input.settlements.map(({ asset, destination }) => ({
      id: newId('crypto_', now.getTime(), deps.world.random.bytes(10)),
      merchantId: merchant.id,
      asset: asset.id,
      assetKey: asset.key,
      ...termsOfNew(destination.id, earlier.get(asset.key), period),
      createdAt: now,
    }));
    const inserted = new Set(await putDestinations(tx, deps, rows));
    const taken = rows.filter(({ id }) => !inserted.has(id));
    if (taken.length > 0) {
      const assets = taken.map(({ asset }) => asset).join(', ');
      throw new ApiError('invalid_state', `The merchant already has a settlement destination for ${assets}.`, {
        status: 409,
      });
    }
    const pending = rows.filter(({ pendingDestination }) => pendingDestination !== null);
    await logDestinations(tx, rows, { actor: input.actor, at: now });
    await logDestinations(tx, pending, { type: 'pending', actor: input.actor, at: now });
    for (const { id, asset, destination, pendingDestination, effectiveAt } of rows) {
      const detail = { id, asset, destination, ...(effectiveAt !== null && { pendingDestination, effectiveAt }) };
      await audit(tx, input, now, 'settlement.registered', detail);
    }
    return answer(rows);
  });
}

/** Changes a destination after the cooling-off period, or at once if the period is zero. */
export function changeDestination(
  deps: CommandDeps & RowKeyDeps & { readonly chains: Chains },
  input: SettlementInput & {
    settlementId: string;
    destination: Account;
    coolingOffMs: number;
    /** The values that the caller has seen. The change is refused if one of them differs now. */
    seen?: Partial<Pick<CryptoSettlement, 'destination' | 'pendingDestination'>>;
  },
): Promise<CryptoSettlement> {
  return command(deps, async (tx, now) => {
    const settlement = await lockOwnSettlement(tx, deps, input, input.settlementId);
    const { destination: inForce, pendingDestination } = settlement;
    if (input.seen !== undefined) refuseUnseen('destination', { destination: inForce, pendingDestination }, input.seen);
    if (!settlement.asset.startsWith(`${input.destination.chainId}/`)) throw otherChain(settlement);
    const problem = destinationProblem(deps, input.destination, settlement.asset);
    if (problem !== undefined) throw validationError([{ field: 'destination', message: problem }]);
    await refuseOwnPlaces(tx, deps, [{ field: 'destination', account: input.destination }]);
    const period = { now, periodMs: input.coolingOffMs };
    const changed = { ...settlement, ...termsAfterChange(settlement, input.destination.id, period) };
    await writeDestination(tx, deps, changed, now);
    const type = kindOfChange(settlement, changed);
    await logDestinations(tx, [changed], { type, actor: input.actor, at: now });
    const { id, asset, destination: before } = settlement;
    const { effectiveAt } = changed;
    const detail = { id, asset, before, after: input.destination.id, ...(effectiveAt !== null && { effectiveAt }) };
    await audit(tx, input, now, `settlement.${type}`, detail);
    return changed;
  });
}

/**
 * The kind of a change. A change that cools off is pending. A change back to the destination in force withdraws the pending one, like
 * a veto.
 */
function kindOfChange(before: CryptoSettlement, after: CryptoSettlement): 'pending' | 'vetoed' | 'changed' {
  if (after.pendingDestination !== null) return 'pending';
  return before.pendingDestination !== null && after.destination === before.destination ? 'vetoed' : 'changed';
}

export function removeSettlement(
  deps: CommandDeps & RowKeyDeps,
  input: SettlementInput & { settlementId: string },
): Promise<void> {
  return command(deps, async (tx, now) => {
    const settlement = await lockOwnSettlement(tx, deps, input, input.settlementId);
    const { id, asset, destination } = settlement;
    await removeDestination(tx, deps, settlement, now);
    await logDestinations(tx, [settlement], { actor: input.actor, at: now, isRemoved: true });
    await audit(tx, input, now, 'settlement.removed', { id, asset, destination });
  });
}

/** Locks the merchant. Throws if it is suspended or frozen, because its destinations cannot be changed then. */
async function lockUnstoppedMerchant(
  tx: Tx,
  deps: RowKeyDeps,
  { owner, merchantId }: SettlementInput,
): Promise<LockedMerchant> {
  await shareFreezes(tx, deps);
  const merchant = await lockLivingMerchant(tx, owner, merchantId);
  if ((await findStopped(tx, [merchant.id])).size === 0) return merchant;
  throw new ApiError('forbidden', 'The merchant is suspended or frozen: its destinations cannot be changed.');
}

async function lockOwnSettlement(
  tx: Tx,
  deps: RowKeyDeps,
  input: SettlementInput,
  id: string,
): Promise<CryptoSettlement> {
  const merchant = await lockUnstoppedMerchant(tx, deps, input);
  const settlement = await lockCryptoSettlement(tx, merchant, id);
  if (settlement === undefined) throw settlementNotFound(id);
  refuseForged(deps, settlement);
  return settlement;
}

export function settlementNotFound(id: string): ApiError {
  return new ApiError('invalid_params', `Settlement ${id.slice(0, 80)} was not found.`, { status: 404 });
}

function otherChain(settlement: CryptoSettlement): ApiError {
  const [chain] = settlement.asset.split('/');
  const message = `must be an account on ${chain}, the chain of the settlement's asset`;
  return validationError([{ field: 'destination', message }]);
}

function audit(tx: Tx, input: SettlementInput, at: Date, action: string, detail: Record<string, unknown>) {
  return appendAudit(tx, { at, actor: input.actor, action, subject: input.merchantId, detail });
}
