import type { FeeTerms } from '../../domain/fees.ts';
import { insertFees, listFees, type StoredFees } from '../../store/parties/fees.ts';
import { lockPartner } from '../../store/parties/partners.ts';
import { appendAudit } from '../../store/plumbing/audit-log.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { type CommandDeps, command } from '../command.ts';
import { lockLivingMerchant } from './change-merchant.ts';
import { partnerNotFound } from './change-partner.ts';

export interface SetFeesInput {
  readonly actor: string;
  /** The payee whose payments are charged: a partner with all its merchants, or one merchant. */
  readonly payee: { readonly partnerId: string } | { readonly merchantId: string };
  readonly terms: FeeTerms;
  /** The time from which the fees apply. Undefined means at once. */
  readonly startsAt: Date | undefined;
}

/** Sets the fees from a time on. Items accepted earlier keep the signed fee. */
export function setFees(deps: CommandDeps, { actor, payee, terms, startsAt }: SetFeesInput): Promise<StoredFees> {
  return command(deps, async (tx, now) => {
    const { percentage, fixed } = terms;
    const whose = await lockPayee(tx, payee);
    const before = await feesBefore(tx, whose, startsAt ?? now);
    const fees = await insertFees(tx, { ...whose, percentage, fixed, startsAt: startsAt ?? now, createdAt: now });
    const subject = fees.merchantId ?? fees.partnerId;
    await appendAudit(tx, {
      at: now,
      actor,
      action: 'fees.set',
      subject,
      detail: { before, after: { percentage, fixed, startsAt: fees.startsAt } },
    });
    return fees;
  });
}

/** The fees of exactly this payee at that time; null if none were set for it. */
async function feesBefore(
  tx: Tx,
  { partnerId, merchantId }: { partnerId: string; merchantId: string | null },
  at: Date,
) {
  const fees = await listFees(tx, { partnerId, merchantId: merchantId ?? undefined });
  const last = fees.findLast((each) => each.merchantId === merchantId && each.startsAt <= at);
  return last === undefined ? null : { percentage: last.percentage, fixed: last.fixed, startsAt: last.startsAt };
}

async function lockPayee(tx: Tx, payee: SetFeesInput['payee']) {
  if ('merchantId' in payee) {
    const { id: merchantId, partnerId } = await lockLivingMerchant(tx, null, payee.merchantId);
    return { partnerId, merchantId };
  }
  if ((await lockPartner(tx, payee.partnerId)) === undefined) throw partnerNotFound(payee.partnerId);
  return { partnerId: payee.partnerId, merchantId: null };
}
