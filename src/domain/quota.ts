/**
 * The limits on a partner's objects of one kind, such as API keys. An object for one merchant counts against the limit of that
 * merchant, all others count against the limit of the partner. So no merchant uses up the limit of its partner or of another
 * merchant. `ofMerchants` limits the sum of all merchants.
 */
export interface Quota {
  readonly ofPartner: number;
  readonly ofMerchant: number;
  readonly ofMerchants: number;
}

/** The merchant that an object counts for. Null if it counts for the partner. */
export function quotaHolder(merchantIds: readonly string[] | null): string | null {
  const [only] = merchantIds ?? [];
  return merchantIds?.length === 1 && only !== undefined ? only : null;
}

/** The limit that one more object would exceed. Undefined if one more object is allowed. */
export function exceededQuota(
  { ofPartner, ofMerchant, ofMerchants }: Quota,
  wanted: readonly string[] | null,
  present: readonly (readonly string[] | null)[],
): number | undefined {
  const holder = quotaHolder(wanted);
  const holders = present.map(quotaHolder);
  const own = holders.filter((each) => each === holder).length;
  if (holder === null) return own >= ofPartner ? ofPartner : undefined;
  if (own >= ofMerchant) return ofMerchant;
  return holders.filter((each) => each !== null).length >= ofMerchants ? ofMerchants : undefined;
}
