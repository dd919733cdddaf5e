/**
 * The scopes of a freeze. A merchant's or partner's stops payments, payouts and changes of destinations, and leaves
 * refunds to operators. A network's stops everything that is sent there. `restored` stops payouts and refunds on a
 * network until `rebuild` has caught up with its chain. An asset's stops everything that leaves our accounts in it.
 */
export const FREEZE_SCOPES = ['merchant', 'partner', 'network', 'payouts', 'refunds', 'restored', 'asset'] as const;

export type FreezeScope = (typeof FREEZE_SCOPES)[number];

/** A merchant, a partner, a network, an asset; or all payouts or refunds, with an empty subject. */
export interface FreezeTarget {
  readonly scope: FreezeScope;
  readonly subject: string;
}
