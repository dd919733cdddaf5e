import { ar } from './strings/ar.ts';
import { de } from './strings/de.ts';
import { en, type Strings } from './strings/en.ts';
import { es } from './strings/es.ts';
import { fr } from './strings/fr.ts';
import { ja } from './strings/ja.ts';
import { pt } from './strings/pt.ts';

/**
 * The languages of the page, with their text direction. Only the server imports this module: the browser gets its texts in the
 * document.
 */
export const LOCALES: Readonly<Record<string, { readonly dir: 'ltr' | 'rtl' }>> = {
  en: { dir: 'ltr' },
  de: { dir: 'ltr' },
  fr: { dir: 'ltr' },
  es: { dir: 'ltr' },
  pt: { dir: 'ltr' },
  ja: { dir: 'ltr' },
  ar: { dir: 'rtl' },
};

export const STRINGS: Readonly<Record<string, Strings>> = { en, de, fr, es, pt, ja, ar };

/** The longest `Accept-Language` header that is read. No browser sends a longer one. */
const MAX_HEADER_CHARS = 1_000;

/** The language of a page: the one in `lang`, else the best match for the header `Accept-Language`, else English. */
export function pickLocale(acceptLanguage: string | undefined, lang: string | undefined): string {
  const asked = lang === undefined ? undefined : knownLocale(lang);
  return asked ?? preferred(acceptLanguage ?? '').flatMap((tag) => knownLocale(tag) ?? [])[0] ?? 'en';
}

/** The language of a tag, if the page has its texts: `de-CH` becomes `de`. */
function knownLocale(tag: string): string | undefined {
  const language = tag.trim().slice(0, 35).toLowerCase().split(/[-_]/)[0] ?? '';
  return Object.hasOwn(LOCALES, language) ? language : undefined;
}

function preferred(header: string): readonly string[] {
  return header
    .slice(0, MAX_HEADER_CHARS)
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.split(';');
      const quality = parameters.map((text) => /^\s*q=([\d.]+)\s*$/.exec(text)?.[1]).find((text) => text !== undefined);
      return { tag: tag.trim(), quality: quality === undefined ? 1 : Number(quality) };
    })
    .filter(({ tag, quality }) => tag !== '' && quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .map(({ tag }) => tag);
}
