import type { Picture } from '../../domain/picture.ts';
import { type Brand, findBrand, saveBrand } from '../../store/parties/brands.ts';
import type { Owner } from '../../store/parties/merchants.ts';
import { appendAudit } from '../../store/plumbing/audit-log.ts';
import { type CommandDeps, command } from '../command.ts';
import { lockLivingMerchant } from './change-merchant.ts';
import { refuseUnseen } from './refuse-unseen.ts';

export interface ChangeBrandInput {
  readonly owner: Owner;
  readonly actor: string;
  readonly merchantId: string;
  /** A missing field stays unchanged. */
  readonly changes: {
    /** Null removes the uploaded logo. */
    readonly logo?: Picture | null;
    readonly accentColor?: string | null;
    readonly showsPoweredBy?: boolean;
  };
  /** The values that the caller has seen, in the form of `view`. The change is refused if one of them differs now. */
  readonly seen?: object;
}

/** Changes the branding of a merchant. Payers see it on the next page that they open. */
export function changeBrand(
  deps: CommandDeps,
  { owner, actor, merchantId, changes: { logo, ...changes }, seen }: ChangeBrandInput,
  view: (brand: Brand) => object,
): Promise<Brand> {
  return command(deps, async (tx, now) => {
    await lockLivingMerchant(tx, owner, merchantId);
    const before = await findBrand(tx, merchantId);
    if (seen !== undefined) refuseUnseen('branding', view(before), seen);
    const uploadedHash = logo === undefined ? before.uploadedHash : (logo?.hash ?? null);
    const after: Brand = { ...before, ...changes, uploadedHash };
    await saveBrand(tx, merchantId, { ...after, logo, at: now });
    const names = [...Object.keys(changes), ...(logo === undefined ? [] : ['uploadedHash'])] as (keyof Brand)[];
    const factsOf = (brand: Brand) => Object.fromEntries(names.map((name) => [name, brand[name]]));
    const detail = { before: factsOf(before), after: factsOf(after) };
    await appendAudit(tx, { at: now, actor, action: 'merchant.brand_changed', subject: merchantId, detail });
    return after;
  });
}
