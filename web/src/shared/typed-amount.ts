/** `minorUnits('12,5', 2)` is `1250`: minor units of an amount as people type it, without separators of thousands. */
export function minorUnits(text: string, decimals: number): string | undefined {
  const [, whole, mark, fraction = ''] = /^([0-9]{1,30})(?:([.,])([0-9]+))?$/.exec(text.trim()) ?? [];
  if (whole === undefined || fraction.length > decimals || (mark === ',' && fraction.length === 3)) return undefined;
  const units = (whole + fraction.padEnd(decimals, '0')).replace(/^0+/, '');
  return units === '' ? undefined : units;
}

/** Decimals of a currency. A currency unknown to the browser has two. */
export function decimalsOf(currency: string): number {
  return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
}
