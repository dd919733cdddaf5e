/** The zeros of Arabic, Persian and full-width Japanese digits, as keyboards of these languages type them. */
const ZEROS = [0x0660, 0x06f0, 0xff10];
const MAX_TYPED = 80;

/**
 * Reads an amount as people type it (`12`, `12.5`, `12,50`), into minor units. The gateway and all pages read typed amounts with
 * this function. Thousands separators are refused: `1,000` and `1.000` are one thousand in some countries and one in others. So
 * three digits after a separator are decimals only after a number that begins with zero. Units with three decimals are the
 * exception: after a point, three digits are the usual spelling, and `1.234` has no other.
 */
export function typedUnits(text: string, decimals: number): bigint | undefined {
  if (text.length > MAX_TYPED) return undefined;
  const latin = Array.from(text.trim(), latinDigit).join('').replace('٫', '.');
  const [, whole, mark, fraction = ''] = /^([0-9]{1,30})(?:([.,])([0-9]+))?$/.exec(latin) ?? [];
  const isUsual = mark === '.' && decimals === 3;
  const isAmbiguous = fraction.length === 3 && !whole?.startsWith('0') && !isUsual;
  if (whole === undefined || fraction.length > decimals || isAmbiguous) return undefined;
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

function latinDigit(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const zero = ZEROS.find((each) => code >= each && code < each + 10);
  return zero === undefined ? character : String(code - zero);
}
