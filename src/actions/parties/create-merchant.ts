import type { AcceptedAssets } from '../../domain/accepted-assets.ts';
import { newId } from '../../domain/ids.ts';
import { requestLogo } from '../../store/parties/logos.ts';
import { insertMerchant, type Merchant, type Owner } from '../../store/parties/merchants.ts';
import { appendAudit } from '../../store/plumbing/audit-log.ts';
import { type Answer, type CommandDeps, type IdempotentRequest, idempotentCommand } from '../command.ts';
import { refuseOutsidePartner } from './accepted-lists.ts';
import { logMerchant } from './log-merchant.ts';

export interface CreateMerchantInput {
  readonly owner: Owner;
  readonly actor: string;
  readonly name: string;
  readonly email: string;
  readonly iconUrl: string | null;
  readonly acceptedAssets: AcceptedAssets;
}

export function createMerchant(
  deps: CommandDeps,
  input: CreateMerchantInput,
  request: IdempotentRequest,
  answer: (merchant: Merchant) => Answer,
) {
  return idempotentCommand(deps, request, async (tx, now) => {
    const merchant: Merchant = {
      ...input.owner,
      id: newId('mrch_', now.getTime(), deps.world.random.bytes(10)),
      name: input.name,
      email: input.email,
      status: 'active',
      iconUrl: input.iconUrl,
      acceptedAssets: input.acceptedAssets,
      createdAt: now,
      updatedAt: now,
      deletedAt: null,
    };
    if (merchant.acceptedAssets !== null) await refuseOutsidePartner(tx, input.owner, merchant.acceptedAssets);
    await insertMerchant(tx, merchant);
    await logMerchant(tx, merchant, { type: 'merchant.created', actor: input.actor });
    const { name, email, iconUrl, acceptedAssets } = input;
    if (iconUrl !== null) await requestLogo(tx, { merchantId: merchant.id, url: iconUrl, wishedAt: now });
    await appendAudit(tx, {
      at: now,
      actor: input.actor,
      action: 'merchant.created',
      subject: merchant.id,
      detail: { name, email, iconUrl, ...(acceptedAssets !== null && { acceptedAssets }) },
    });
    return answer(merchant);
  });
}
