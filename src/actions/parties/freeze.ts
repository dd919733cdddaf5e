import type { Registry } from '../../chains/registry.ts';
import type { FreezeScope, FreezeTarget } from '../../domain/freeze.ts';
import { ApiError } from '../../errors.ts';
import { deleteFreeze, type Freeze, insertFreeze, lockFreezes } from '../../store/parties/freezes.ts';
import { findMerchantOfAnyPartner } from '../../store/parties/merchants.ts';
import { findPartner } from '../../store/parties/partners.ts';
import { deleteAlert, upsertAlert } from '../../store/plumbing/alerts.ts';
import { appendAudit } from '../../store/plumbing/audit-log.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { type CommandDeps, command } from '../command.ts';
import type { RowKeyDeps } from '../row-keys.ts';
import { merchantNotFound } from './change-merchant.ts';
import { partnerNotFound } from './change-partner.ts';
import { addToHead, freezeName, removeFromHead } from './freeze-heads.ts';

export interface FreezeInput extends FreezeTarget {
  readonly reason: string;
  readonly actor: string;
}

/**
 * Stops payments or outgoing transfers. Waits for running database transactions that accept or send money. When the function has
 * returned, no node accepts or sends anything that the freeze stops. A repeated freeze keeps the first reason.
 */
export function freeze(deps: CommandDeps & RowKeyDeps, input: FreezeInput): Promise<{ readonly isNew: boolean }> {
  return command(deps, async (tx, now) => {
    await lockFreezes(tx);
    await refuseUnknown(tx, deps.registry, input);
    return { isNew: await putFreeze(tx, deps, { ...input, since: now }) };
  });
}

/** Lifts one freeze. Other freezes stay in force. */
export function unfreeze(deps: CommandDeps & RowKeyDeps, input: FreezeInput): Promise<Freeze> {
  return command(deps, async (tx, now) => {
    const lifted = await liftFreeze(tx, deps, input, now);
    if (lifted === undefined) throw new ApiError('invalid_state', `${nameOf(input)} is not frozen: see till freezes.`);
    return lifted;
  });
}

/** Stores a freeze with its alert. Returns false if it exists already. The caller has locked the freezes. */
export async function putFreeze(tx: Tx, deps: RowKeyDeps, row: Freeze): Promise<boolean> {
  const isOrdered = await addToHead(tx, deps, freezeName(row));
  const isInserted = await insertFreeze(tx, row);
  if (!isOrdered && !isInserted) return false;
  const message = `${nameOf(row)} is frozen by ${row.actor}: ${row.reason}`;
  await upsertAlert(tx, { name: 'frozen', subject: freezeName(row), message, lastSeen: row.since });
  const { scope, subject, reason, actor, since: at } = row;
  await appendAudit(tx, {
    at,
    actor,
    action: 'freeze.set',
    subject: freezeName(row),
    detail: { scope, subject, reason },
  });
  return true;
}

/** Deletes a freeze with its alert. Undefined if there is none. */
export async function liftFreeze(tx: Tx, deps: RowKeyDeps, input: FreezeInput, at: Date): Promise<Freeze | undefined> {
  await lockFreezes(tx);
  const wasOrdered = await removeFromHead(tx, deps, freezeName(input));
  const row = await deleteFreeze(tx, input);
  if (!wasOrdered && row === undefined) return undefined;
  const { scope, subject } = input;
  const lifted = row ?? { scope, subject, actor: 'unknown', reason: 'its row was deleted', since: at };
  const { actor, reason } = input;
  await deleteAlert(tx, { name: 'frozen', subject: freezeName(lifted) });
  const detail = { reason, frozen: { by: lifted.actor, since: lifted.since, reason: lifted.reason } };
  await appendAudit(tx, { at, actor, action: 'freeze.lifted', subject: freezeName(lifted), detail });
  return lifted;
}

/** Throws if the subject is unknown, because a freeze of a misspelt id would stop nothing. */
async function refuseUnknown(tx: Tx, registry: Registry, { scope, subject }: FreezeTarget): Promise<void> {
  if (scope === 'merchant' && (await findMerchantOfAnyPartner(tx, subject)) === undefined)
    throw merchantNotFound(subject);
  if (scope === 'partner' && (await findPartner(tx, subject)) === undefined) throw partnerNotFound(subject);
  if ((scope === 'network' || scope === 'restored') && registry.network(subject) === undefined) {
    throw new ApiError('invalid_state', `There is no network ${subject}.`);
  }
  if (scope === 'asset' && registry.asset(subject) === undefined) {
    throw new ApiError('invalid_state', `There is no asset ${subject}.`);
  }
}

function nameOf({ scope, subject }: FreezeTarget): string {
  const names: Readonly<Record<FreezeScope, string>> = {
    merchant: `Merchant ${subject}`,
    partner: `Partner ${subject}`,
    network: `Network ${subject}`,
    payouts: 'Every payout',
    refunds: 'Every refund',
    restored: `Every payout and refund on ${subject}`,
    asset: `Everything that leaves in ${subject}`,
  };
  return names[scope];
}
