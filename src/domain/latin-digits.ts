/** The locale with the digits 0–9, in every language. Wallets show these digits, and payers compare the amounts. */
export function latinDigits(locale: string): string {
  return `${locale}-u-nu-latn`;
}
