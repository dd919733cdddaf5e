/** The locale with digits 0–9, in every language: wallets show these digits, and payers compare. */
export function latinDigits(locale: string): string {
  return `${locale}-u-nu-latn`;
}
