import type { AcceptedAssets } from '../../../domain/accepted-assets.ts';
import type { LinkStatus } from '../../../domain/payment-link.ts';
import type { Picture } from '../../../domain/picture.ts';
import { ApiError } from '../../../errors.ts';
import { findLinkStock, lockLink, type PaymentLink, updateLink } from '../../../store/payments/payment-links.ts';
import { appendAudit } from '../../../store/plumbing/audit-log.ts';
import { type CommandDeps, command } from '../../command.ts';
import { refuseTooMany } from './create-link.ts';
import { logLink } from './log-link.ts';

export interface LinkChanges {
  readonly description?: string;
  readonly stock?: number | null;
  readonly status?: LinkStatus;
  readonly expiresAt?: Date | null;
  readonly picture?: Picture | null;
  readonly acceptedAssets?: AcceptedAssets;
}

export interface LinkChange {
  readonly linkId: string;
  readonly merchantId: string;
  readonly actor: string;
  readonly changes: LinkChanges;
}

/** Changes a link. Its existing payments stay unchanged, but the new stock applies to their confirmation. */
export function changeLink(
  deps: CommandDeps,
  { linkId, merchantId, actor, changes: { picture, ...changes } }: LinkChange,
): Promise<PaymentLink> {
  return command(deps, async (tx, now) => {
    if (changes.status === 'active') await refuseTooMany(tx, merchantId);
    const link = await lockLink(tx, linkId);
    if (link === undefined || link.merchantId !== merchantId) throw linkNotFound();
    const pictureHash = picture === undefined ? link.pictureHash : (picture?.hash ?? null);
    const changed: PaymentLink = { ...link, ...changes, pictureHash };
    await updateLink(tx, { link: changed, picture, at: now });
    const names = [...Object.keys(changes), ...(picture === undefined ? [] : ['pictureHash'])] as (keyof PaymentLink)[];
    const factsOf = (of: PaymentLink) => Object.fromEntries(names.map((name) => [name, of[name]]));
    const detail = { before: factsOf(link), after: factsOf(changed) };
    await appendAudit(tx, { at: now, actor, action: 'payment_link.changed', subject: link.id, detail });
    // Read after the change, because a link with a new stock counts its taken pieces from now on.
    const { taken = null } = (await findLinkStock(tx, link.id)) ?? {};
    const written = { ...changed, taken };
    await logLink(tx, written, { type: 'payment_link.updated', actor, at: now });
    return written;
  });
}

export function linkNotFound(): ApiError {
  return new ApiError('invalid_params', 'There is no such payment link.', { status: 404 });
}
