/** True if the text is an integer from `min` to `max`. Texts with more than 16 digits are refused, because `Number` would round them. */
export function isDecimal(text: string, min: number, max: number): boolean {
  return /^(0|[1-9][0-9]{0,15})$/.test(text) && Number(text) >= min && Number(text) <= max;
}
