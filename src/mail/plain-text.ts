/** Characters that end a line, direct the text or are invisible, so that words of strangers cannot pose as ours. */
const UNWANTED = /[\p{Cc}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]+/gu;

/** Text of strangers in one line, of at most so many characters as people count them. */
export function plainText(text: string, most: number): string {
  const line = text.toWellFormed().replace(UNWANTED, ' ').trim();
  const characters = Array.from(new Intl.Segmenter().segment(line.slice(0, MOST_UNITS)), ({ segment }) => segment);
  return characters.length > most ? `${characters.slice(0, most).join('')}…` : characters.join('');
}

/** A character may have any number of code units. */
const MOST_UNITS = 8_000;

/**
 * The same without anything that a mail program turns into a link: a space behind each scheme, and behind each dot that could be
 * one of a host. Words of merchants stand in letters of ours, and payers trust those.
 */
export function unlinkedText(text: string, most: number): string {
  return plainText(text, most)
    .replace(/:(?=\/\/|[\p{L}+])/gu, ': ')
    .replace(/(?<=[\p{L}\p{N}_-])([.\u3002\uff0e\uff61])(?=\p{L}{2})/gu, '$1 ');
}
