import type { AcceptedAssets } from '../../domain/accepted-assets.ts';
import type { MerchantStatus } from '../../domain/merchant.ts';
import { ApiError } from '../../errors.ts';
import { countMerchantMoney, type MerchantMoney } from '../../store/money/payout-lists.ts';
import { lockFreezes } from '../../store/parties/freezes.ts';
import { dropLogo, requestLogo } from '../../store/parties/logos.ts';
import {
  type LockedMerchant,
  lockMerchant,
  type Merchant,
  type Owner,
  updateMerchant,
} from '../../store/parties/merchants.ts';
import { appendAudit } from '../../store/plumbing/audit-log.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { type CommandDeps, command } from '../command.ts';
import { refuseOutsidePartner } from './accepted-lists.ts';
import { logMerchant } from './log-merchant.ts';
import { refuseUnseen } from './refuse-unseen.ts';

export interface ChangeMerchantInput {
  /** The partner and the mode. Null for operators, who may change the merchants of every partner. */
  readonly owner: Owner | null;
  readonly actor: string;
  readonly merchantId: string;
  /** A missing field stays unchanged. */
  readonly changes: {
    readonly name?: string;
    readonly email?: string;
    readonly iconUrl?: string | null;
    readonly status?: MerchantStatus;
    readonly acceptedAssets?: AcceptedAssets;
  };
  /** The values that the caller has seen. The change is refused if one of them differs now. */
  readonly seen?: MerchantFacts;
}

export type MerchantFacts = Partial<Pick<Merchant, 'name' | 'email' | 'iconUrl' | 'status' | 'acceptedAssets'>>;

export function changeMerchant(deps: CommandDeps, input: ChangeMerchantInput): Promise<Merchant> {
  return command(deps, async (tx, now) => {
    const { owner, changes, seen } = input;
    // A suspension stops money like a freeze, so both take the same lock. A partner can suspend a merchant, but cannot lift the
    // suspension.
    const concernsMoney = owner === null ? changes.status !== undefined : changes.status === 'suspended';
    if (concernsMoney) await lockFreezes(tx);
    const merchant = await lockLivingMerchant(tx, owner, input.merchantId);
    if (seen !== undefined) refuseUnseen('merchant', factsOf(merchant), seen);
    if (owner !== null && changes.status !== undefined && merchant.status === 'suspended') {
      throw new ApiError('invalid_state', 'The merchant is suspended. Only the operator can change that.');
    }
    const { acceptedAssets = null } = changes;
    if (acceptedAssets !== null) await refuseOutsidePartner(tx, merchant, acceptedAssets);
    const changed = { ...merchant, ...input.changes, updatedAt: now };
    await updateMerchant(tx, changed);
    await logMerchant(tx, changed, { type: 'merchant.updated', actor: input.actor });
    // The logo is fetched even if the URL is the same, because the picture behind it may have changed.
    if (input.changes.iconUrl !== undefined) await changeLogo(tx, changed);
    const before = Object.fromEntries(
      Object.keys(input.changes).map((name) => [name, merchant[name as keyof Merchant]]),
    );
    await appendAudit(tx, {
      at: now,
      actor: input.actor,
      action: 'merchant.changed',
      subject: merchant.id,
      detail: { before, after: input.changes },
    });
    return changed;
  });
}

function factsOf({ name, email, iconUrl, status, acceptedAssets }: Merchant): MerchantFacts {
  return { name, email, iconUrl, status, acceptedAssets };
}

async function changeLogo(tx: Tx, { id: merchantId, iconUrl: url, updatedAt }: Merchant): Promise<void> {
  if (url === null) await dropLogo(tx, merchantId);
  else await requestLogo(tx, { merchantId, url, wishedAt: updatedAt });
}

/**
 * Deletes a merchant: hides it and stops its payments. A repeated deletion changes nothing. A merchant with money that is held, under
 * way or unexpected cannot be deleted, because nobody could then say where the money goes.
 */
export function deleteMerchant(deps: CommandDeps, input: Omit<ChangeMerchantInput, 'changes' | 'seen'>): Promise<void> {
  return command(deps, async (tx, now) => {
    const merchant = await lockOwnMerchant(tx, input.owner, input.merchantId);
    if (merchant.deletedAt !== null) return;
    refuseStranding(await countMerchantMoney(tx, merchant.id));
    const deleted = { ...merchant, updatedAt: now, deletedAt: now };
    await updateMerchant(tx, deleted);
    await logMerchant(tx, deleted, { type: 'merchant.updated', actor: input.actor });
    await appendAudit(tx, {
      at: now,
      actor: input.actor,
      action: 'merchant.deleted',
      subject: merchant.id,
      detail: { before: { status: merchant.status, deletedAt: null }, after: { deletedAt: now } },
    });
  });
}

/** Restores a deleted merchant unchanged. For operators. */
export function restoreMerchant(
  deps: CommandDeps,
  { merchantId, actor }: { readonly merchantId: string; readonly actor: string },
): Promise<Merchant> {
  return command(deps, async (tx, now) => {
    const merchant = await lockOwnMerchant(tx, null, merchantId);
    if (merchant.deletedAt === null) throw new ApiError('invalid_state', 'The merchant is not deleted.');
    const restored = { ...merchant, updatedAt: now, deletedAt: null };
    await updateMerchant(tx, restored);
    await logMerchant(tx, restored, { type: 'merchant.updated', actor });
    const detail = { before: { deletedAt: merchant.deletedAt }, after: { deletedAt: null } };
    await appendAudit(tx, { at: now, actor, action: 'merchant.restored', subject: merchant.id, detail });
    return restored;
  });
}

const STRANDED: Readonly<Record<keyof MerchantMoney, readonly [one: string, many: string]>> = {
  held: ['payment whose money is held', 'payments whose money is held'],
  outgoing: ['transfer under way', 'transfers under way'],
  refunds: ['refund that is not over', 'refunds that are not over'],
  unexpected: ['amount of late money', 'amounts of late money'],
  processing: ['payment that is being carried out', 'payments that are being carried out'],
};

function refuseStranding(money: MerchantMoney): void {
  const kinds = (Object.keys(STRANDED) as (keyof MerchantMoney)[]).filter((kind) => money[kind] > 0);
  if (kinds.length === 0) return;
  const named = kinds.map((kind) => `${money[kind]} ${STRANDED[kind][money[kind] === 1 ? 0 : 1]}`);
  const message = `The merchant has ${named.join(', ')}. It can be deleted when that is over. It can be made inactive now.`;
  throw new ApiError('invalid_state', message);
}

/**
 * Locks a merchant, and throws if it is deleted. The lock lasts until the database transaction ends, so that nothing is added to a
 * merchant that is being deleted.
 */
export async function lockLivingMerchant(tx: Tx, owner: Owner | null, id: string): Promise<LockedMerchant> {
  const merchant = await lockOwnMerchant(tx, owner, id);
  if (merchant.deletedAt !== null) throw merchantNotFound(id);
  return merchant;
}

export function merchantNotFound(id: string): ApiError {
  const message =
    id === '' ? 'The id of the merchant is missing from the path.' : `Merchant ${id.slice(0, 80)} was not found.`;
  return new ApiError('merchant_not_found', message);
}

async function lockOwnMerchant(tx: Tx, owner: Owner | null, id: string): Promise<LockedMerchant> {
  const merchant = await lockMerchant(tx, id);
  const isOwn =
    merchant !== undefined &&
    (owner === null || (merchant.partnerId === owner.partnerId && merchant.mode === owner.mode));
  if (!isOwn) throw merchantNotFound(id);
  return merchant;
}
