/** At most 16 digits are read, so that a number is compared before it can be rounded. */
export function isDecimal(text: string, min: number, max: number): boolean {
  return /^(0|[1-9][0-9]{0,15})$/.test(text) && Number(text) >= min && Number(text) <= max;
}
