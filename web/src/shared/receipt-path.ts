/** The page of a payment's receipt on this origin. */
export function receiptPath(paymentId: string): string {
  return `/c/${paymentId.slice(4)}/receipt`;
}
