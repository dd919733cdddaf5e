import type { AcceptedAssets } from '../../domain/accepted-assets.ts';
import type { Mode } from '../../domain/mode.ts';
import { ApiError } from '../../errors.ts';
import { lockPartner, type Partner, updatePartner } from '../../store/parties/partners.ts';
import { appendAudit } from '../../store/plumbing/audit-log.ts';
import { type CommandDeps, command } from '../command.ts';
import { refuseEmptiedMerchants } from './accepted-lists.ts';
import { refuseUnseen } from './refuse-unseen.ts';

export interface ChangePartnerInput {
  readonly actor: string;
  readonly partnerId: string;
  /** A missing field stays unchanged. */
  readonly changes: Partial<Pick<Partner, 'name' | 'pinnedVersion' | 'frameOrigins'>> & {
    readonly isDisabled?: boolean;
    /** The lists by mode. The list of a missing mode stays unchanged. */
    readonly accepted?: Partial<Partner['accepted']>;
  };
  /** The list that the caller has seen. The change is refused if the mode's list differs now. */
  readonly seen?: { readonly mode: Mode; readonly acceptedAssets: AcceptedAssets };
}

export function changePartner(deps: CommandDeps, input: ChangePartnerInput): Promise<Partner> {
  return command(deps, async (tx, now) => {
    const partner = await lockPartner(tx, input.partnerId);
    if (partner === undefined) throw partnerNotFound(input.partnerId);
    if (input.seen !== undefined) {
      const { mode, acceptedAssets } = input.seen;
      refuseUnseen('list', { acceptedAssets: partner.accepted[mode] }, { acceptedAssets });
    }
    const { isDisabled, accepted, ...rest } = input.changes;
    const fields = { ...rest, ...(accepted !== undefined && { accepted: { ...partner.accepted, ...accepted } }) };
    const disabledAt = isDisabled === undefined ? partner.disabledAt : isDisabled ? (partner.disabledAt ?? now) : null;
    if (fields.pinnedVersion !== undefined && fields.pinnedVersion < partner.pinnedVersion) {
      throw new ApiError(
        'api_version_downgrade',
        `The partner is pinned to ${partner.pinnedVersion}: pins only move forward.`,
      );
    }
    if (accepted !== undefined) await refuseEmptiedMerchants(tx, partner.id, accepted);
    const changed = { ...partner, ...fields, disabledAt };
    const names = [...Object.keys(fields), ...(isDisabled === undefined ? [] : ['disabledAt'])] as (keyof Partner)[];
    const part = (of: Partner) => Object.fromEntries(names.map((name) => [name, of[name]]));
    await updatePartner(tx, changed);
    await appendAudit(tx, {
      at: now,
      actor: input.actor,
      action: 'partner.changed',
      subject: partner.id,
      detail: { before: part(partner), after: part(changed) },
    });
    return changed;
  });
}

export function partnerNotFound(id: string): ApiError {
  return new ApiError('partner_not_found', `There is no partner ${id}.`);
}
