/** The tolerated difference between the clocks of this machine and the database. Synchronised clocks differ by less. */
const MAX_OFF_MS = 1_000;

/** The warning to the operator that this machine's clock is wrong. Undefined if the clock is right. */
export function clockRemark(offMs: number): string | undefined {
  if (Math.abs(offMs) <= MAX_OFF_MS) return undefined;
  const seconds = Math.round(Math.abs(offMs) / 1_000);
  const where = offMs > 0 ? 'ahead of' : 'behind';
  return `The clock of this machine is ${seconds} s ${where} the database. The node goes by the time of the database.`;
}
