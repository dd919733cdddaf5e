/** Fills in a template, such as `fill('Pay {merchant}', { merchant: 'Kiosk' })`. Placeholders inside a value are not filled in. */
export function fill(template: string, values: Readonly<Record<string, string>>): string {
  return partsOf(template)
    .map((part) => (part.isName ? (values[part.text] ?? '') : part.text))
    .join('');
}

/** The parts of a template: text and names, in order. */
export function partsOf(template: string): readonly { readonly text: string; readonly isName: boolean }[] {
  return template
    .split(/\{(\w+)\}/)
    .map((text, index) => ({ text, isName: index % 2 === 1 }))
    .filter(({ text }) => text !== '');
}

/** The address of a CAIP-10 account or of a plain address. */
export function addressOf(account: string): string {
  return account.slice(account.lastIndexOf(':') + 1);
}

/** A shortened account, such as `0x1234…abcd`: enough for people to recognise their account. */
export function shortAccount(account: string): string {
  const address = addressOf(account);
  return address.length <= 13 ? address : `${address.slice(0, 6)}…${address.slice(-4)}`;
}

/** Two initials, shown until an image is loaded. */
export function initialsOf(name: string): string {
  const letters = name.split(/[\s\-_.,]+/).flatMap((word) => word.match(/[\p{L}\p{N}]/u) ?? []);
  return letters.slice(0, 2).join('').toLocaleUpperCase();
}

/**
 * An untrusted text as one short line. It is cut between grapheme clusters, so that no emoji is split. Bidi controls are removed,
 * because they could reorder the text around it.
 */
export function clamp(text: string, maxChars: number): string {
  const one = text
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  // Only long texts are segmented, because creating a segmenter takes long.
  const chars = one.length > maxChars ? charactersOf(one) : [];
  return chars.length > maxChars ? `${chars.slice(0, maxChars - 1).join('')}…` : one;
}

/**
 * The grapheme clusters of a text. The browsers inside wallet apps are often some years old. If they have no segmenter, the text is
 * cut between code points.
 */
function charactersOf(text: string): readonly string[] {
  return Intl.Segmenter ? Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment) : [...text];
}
