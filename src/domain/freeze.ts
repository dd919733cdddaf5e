/**
 * The scopes of a freeze. `merchant` and `partner` stop payments, payouts and changes of destinations; refunds then need an
 * operator. `network` stops everything that is sent on the network. `restored` stops payouts and refunds on a network until
 * `rebuild` has caught up with its chain. `asset` stops everything that leaves our accounts in the asset.
 */
export const FREEZE_SCOPES = ['merchant', 'partner', 'network', 'payouts', 'refunds', 'restored', 'asset'] as const;

export type FreezeScope = (typeof FREEZE_SCOPES)[number];

/** The subject is a merchant, a partner, a network or an asset. It is empty for a freeze of all payouts or refunds. */
export interface FreezeTarget {
  readonly scope: FreezeScope;
  readonly subject: string;
}
