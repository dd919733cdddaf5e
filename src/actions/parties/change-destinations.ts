import type { Chains } from '../../chains/chains.ts';
import { destinationProblem } from '../../chains/destinations.ts';
import type { Account, Asset } from '../../domain/caip.ts';
import { newId } from '../../domain/ids.ts';
import { ApiError, validationError } from '../../errors.ts';
import {
  type CryptoSettlement,
  deleteCryptoSettlement,
  insertCryptoSettlements,
  lockCryptoSettlement,
  updateDestination,
} from '../../store/parties/destinations.ts';
import type { Owner } from '../../store/parties/merchants.ts';
import { appendAudit } from '../../store/plumbing/audit-log.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { type Answer, type CommandDeps, command, type IdempotentRequest, idempotentCommand } from '../command.ts';
import { lockLivingMerchant } from './change-merchant.ts';
import { logDestinations } from './log-destinations.ts';

interface SettlementInput {
  readonly owner: Owner;
  readonly actor: string;
  readonly merchantId: string;
}

export interface RegisterSettlementsInput extends SettlementInput {
  readonly settlements: readonly { readonly asset: Asset; readonly destination: Account }[];
}

/** Registers all of them or none. */
export function registerSettlements(
  deps: CommandDeps,
  input: RegisterSettlementsInput,
  request: IdempotentRequest,
  answer: (settlements: readonly CryptoSettlement[]) => Answer,
) {
  return idempotentCommand(deps, request, async (tx, now) => {
    const merchant = await lockLivingMerchant(tx, input.owner, input.merchantId);
    const rows = input.settlements.map(({ asset, destination }) => ({
      id: newId('crypto_', now.getTime(), deps.world.random.bytes(10)),
      merchantId: merchant.id,
      asset: asset.id,
      assetKey: asset.key,
      destination: destination.id,
      createdAt: now,
    }));
    const inserted = new Set(await insertCryptoSettlements(tx, rows));
    const taken = rows.filter(({ id }) => !inserted.has(id));
    if (taken.length > 0) {
      const assets = taken.map(({ asset }) => asset).join(', ');
      throw new ApiError('invalid_state', `The merchant already has a settlement destination for ${assets}.`, {
        status: 409,
      });
    }
    await logDestinations(tx, rows, { actor: input.actor, at: now });
    for (const { id, asset, destination } of rows) {
      await audit(tx, input, now, 'settlement.registered', { id, asset, destination });
    }
    return answer(rows);
  });
}

export function changeDestination(
  deps: CommandDeps & { readonly chains: Chains },
  input: SettlementInput & { settlementId: string; destination: Account },
): Promise<CryptoSettlement> {
  return command(deps, async (tx, now) => {
    const settlement = await lockOwnSettlement(tx, input, input.settlementId);
    if (!settlement.asset.startsWith(`${input.destination.chainId}/`)) throw otherChain(settlement);
    const problem = destinationProblem(deps.chains, input.destination, settlement.asset);
    if (problem !== undefined) throw validationError([{ field: 'destination', message: problem }]);
    const changed = { ...settlement, destination: input.destination.id };
    await updateDestination(tx, { id: settlement.id, destination: changed.destination, at: now });
    await logDestinations(tx, [changed], { actor: input.actor, at: now });
    const { id, asset, destination: before } = settlement;
    await audit(tx, input, now, 'settlement.changed', { id, asset, before, after: input.destination.id });
    return changed;
  });
}

export function removeSettlement(deps: CommandDeps, input: SettlementInput & { settlementId: string }): Promise<void> {
  return command(deps, async (tx, now) => {
    const settlement = await lockOwnSettlement(tx, input, input.settlementId);
    const { id, asset, destination } = settlement;
    await deleteCryptoSettlement(tx, id);
    await logDestinations(tx, [settlement], { actor: input.actor, at: now, isRemoved: true });
    await audit(tx, input, now, 'settlement.removed', { id, asset, destination });
  });
}

async function lockOwnSettlement(tx: Tx, input: SettlementInput, id: string): Promise<CryptoSettlement> {
  const merchant = await lockLivingMerchant(tx, input.owner, input.merchantId);
  const settlement = await lockCryptoSettlement(tx, { merchantId: merchant.id, id });
  if (settlement === undefined) throw settlementNotFound(id);
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
