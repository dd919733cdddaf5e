/** The largest number of payments whose uses are counted at the same time. For one more, the oldest count is deleted. */
const MAX_PAYMENTS = 100_000;

/** A function that counts the uses of payments in the memory of this process. A count is kept for `keptMs` after the first use. */
export function createUses(keptMs: number): (paymentId: string) => number {
  const uses = new Map<string, { count: number; readonly endMs: number }>();
  return (paymentId) => {
    const nowMs = Date.now();
    const known = uses.get(paymentId);
    if (known !== undefined && known.endMs > nowMs) {
      known.count += 1;
      return known.count;
    }
    for (const [id, { endMs }] of uses) {
      if (endMs > nowMs && uses.size < MAX_PAYMENTS) break;
      uses.delete(id);
    }
    uses.set(paymentId, { count: 1, endMs: nowMs + keptMs });
    return 1;
  };
}
