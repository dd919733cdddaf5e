import type { FeeTerms } from '../../domain/fees.ts';
import { insertFees, type StoredFees } from '../../store/parties/fees.ts';
import { lockPartner } from '../../store/parties/partners.ts';
import { appendAudit } from '../../store/plumbing/audit-log.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { type CommandDeps, command } from '../command.ts';
import { lockLivingMerchant } from './change-merchant.ts';
import { partnerNotFound } from './change-partner.ts';

export interface SetFeesInput {
  readonly actor: string;
  /** The payments that are charged: all of a partner's, or one merchant's. */
  readonly payee: { readonly partnerId: string } | { readonly merchantId: string };
  readonly terms: FeeTerms;
  /** Undefined: at once. */
  readonly startsAt: Date | undefined;
}

/** Sets the fees from a time on. Items accepted before keep the fee that was signed. */
export function setFees(deps: CommandDeps, { actor, payee, terms, startsAt }: SetFeesInput): Promise<StoredFees> {
  return command(deps, async (tx, now) => {
    const { percentage, fixed } = terms;
    const whose = await lockPayee(tx, payee);
    const fees = await insertFees(tx, { ...whose, percentage, fixed, startsAt: startsAt ?? now, createdAt: now });
    const subject = fees.merchantId ?? fees.partnerId;
    await appendAudit(tx, {
      at: now,
      actor,
      action: 'fees.set',
      subject,
      detail: { percentage, fixed, startsAt: fees.startsAt.toISOString() },
    });
    return fees;
  });
}

async function lockPayee(tx: Tx, payee: SetFeesInput['payee']) {
  if ('merchantId' in payee) {
    const { id: merchantId, partnerId } = await lockLivingMerchant(tx, null, payee.merchantId);
    return { partnerId, merchantId };
  }
  if ((await lockPartner(tx, payee.partnerId)) === undefined) throw partnerNotFound(payee.partnerId);
  return { partnerId: payee.partnerId, merchantId: null };
}
