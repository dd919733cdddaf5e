import { newId } from '../../../domain/ids.ts';
import { MAX_LINKS } from '../../../domain/payment-link.ts';
import type { Picture } from '../../../domain/picture.ts';
import { ApiError } from '../../../errors.ts';
import type { Merchant } from '../../../store/parties/merchants.ts';
import { countActiveLinks, insertLink, type PaymentLink } from '../../../store/payments/payment-links.ts';
import { appendAudit } from '../../../store/plumbing/audit-log.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { lockName } from '../../../store/plumbing/locks.ts';
import { type Answer, type CommandDeps, type IdempotentRequest, idempotentCommand } from '../../command.ts';
import { logLink } from './log-link.ts';

export interface NewLink
  extends Pick<
    PaymentLink,
    | 'description'
    | 'amountUnit'
    | 'amountDecimals'
    | 'amountValue'
    | 'minimumValue'
    | 'maximumValue'
    | 'stock'
    | 'expiresAt'
    | 'acceptedAssets'
  > {
  readonly merchant: Pick<Merchant, 'id' | 'partnerId' | 'mode'>;
  readonly actor: string;
  /** The reference of the link's payments. Null to use the id of the link. */
  readonly referenceId: string | null;
  readonly picture: Picture | null;
}

export function createLink(
  deps: CommandDeps,
  { merchant, actor, picture, ...terms }: NewLink,
  request: IdempotentRequest | undefined,
  answer: (link: PaymentLink) => Answer,
) {
  return idempotentCommand(deps, request, async (tx, now) => {
    await refuseTooMany(tx, merchant.id);
    const id = newId('plk_', now.getTime(), deps.world.random.bytes(10));
    const link: PaymentLink = {
      ...terms,
      id,
      partnerId: merchant.partnerId,
      mode: merchant.mode,
      merchantId: merchant.id,
      referenceId: terms.referenceId ?? id,
      status: 'active',
      taken: terms.stock === null ? null : 0,
      pictureHash: picture?.hash ?? null,
      createdAt: now,
    };
    await insertLink(tx, link, picture);
    const detail = { merchantId: merchant.id, ...terms, pictureHash: link.pictureHash };
    await appendAudit(tx, { at: now, actor, action: 'payment_link.created', subject: id, detail });
    await logLink(tx, link, { type: 'payment_link.created', actor, at: now });
    return answer(link);
  });
}

/** Throws if the merchant has too many active links. The lock keeps two concurrent requests from exceeding the limit together. */
export async function refuseTooMany(tx: Tx, merchantId: string): Promise<void> {
  await lockName(tx, `payment links ${merchantId}`);
  if ((await countActiveLinks(tx, merchantId)) < MAX_LINKS) return;
  const message = `There are ${MAX_LINKS} active payment links, which is the most. Set one to inactive first.`;
  throw new ApiError('invalid_state', message, { status: 409 });
}
