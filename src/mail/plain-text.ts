/**
 * Characters that end a line, change the direction of text or are invisible. Untrusted text could use them to look like our own
 * text.
 */
const UNWANTED = /[\p{Cc}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]+/gu;

/** Untrusted text in one line, cut to `most` grapheme clusters. */
export function plainText(text: string, most: number): string {
  const line = text.toWellFormed().replace(UNWANTED, ' ').trim();
  const characters = Array.from(new Intl.Segmenter().segment(line.slice(0, MOST_UNITS)), ({ segment }) => segment);
  return characters.length > most ? `${characters.slice(0, most).join('')}…` : characters.join('');
}

/**
 * The most UTF-16 code units that are segmented. The input is cut before it is segmented, because a grapheme cluster has no
 * maximum length.
 */
const MOST_UNITS = 8_000;

/**
 * Plain text that mail programs do not turn into a link: a space after each scheme, and after each dot that may belong to a host
 * name. Merchants choose some texts of our mails, and payers trust links in our mails.
 */
export function unlinkedText(text: string, most: number): string {
  return plainText(text, most).normalize('NFC').replace(SCHEME_END, ': ').replace(HOST_DOT, '$1 ');
}

/**
 * Combining marks, variation selectors and joiners. Mail programs may ignore them in a host name, so the patterns below ignore
 * them before and after a letter.
 */
const UNSEEN = '[\\p{M}\\p{Default_Ignorable_Code_Point}]';
const SCHEME_END = new RegExp(`:(?=${UNSEEN}*(?://|[\\p{L}+]))`, 'gu');
const HOST_DOT = new RegExp(`(?<=\\S)([.\u3002\uff0e\uff61])(?=${UNSEEN}*\\p{L}(?:\\p{L}|${UNSEEN}))`, 'gu');
