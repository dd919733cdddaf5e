/** Ids of objects of one partner, of every kind that a route has in its path. */
export interface RouteIds {
  readonly merchantId: string;
  readonly settlementId: string;
  readonly linkId: string;
  readonly paymentId: string;
  /** The creation of the payment. */
  readonly eventId: string;
  readonly refundId: string;
  readonly lateId: string;
  /** With a delivery of the event. */
  readonly endpointId: string;
  /** A cashier, and the cashier's session and passkey. */
  readonly personId: string;
  readonly sessionId: string;
  readonly passkeyId: string;
  readonly keyId: string;
}

/** The id for `{id}` in this path. `refundCode` is the secret of the page that signs the refund. */
export function idFor(path: string, ids: RouteIds, refundCode: string): string {
  const byPart = [
    ['/settlements/', ids.settlementId],
    ['/events/', ids.eventId],
    ['/refunds/', ids.refundId],
    ['/late-money/', ids.lateId],
    ['/payment-links/', ids.linkId],
    ['/refund/', refundCode],
    ['/webhook-endpoints/', ids.endpointId],
    ['/people/', ids.personId],
    ['/sessions/', ids.sessionId],
    ['/passkeys/', ids.passkeyId],
    ['/api-keys/', ids.keyId],
  ] as const;
  return byPart.find(([part]) => path.includes(part))?.[1] ?? ids.paymentId;
}
