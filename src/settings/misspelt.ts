import { nearest } from '../domain/nearest.ts';
import { SETTINGS } from './config.ts';

/** No other program's variables begin with this prefix. */
const OWN_PREFIX = 'TILL_';
/** A name of at most this length may differ from a setting in one letter only: `SITE_URL` is not a misspelt `SMTP_URL`. */
const SHORT = 8;
/** A variable of the guides for partners. It may be set in the terminal where the gateway starts, so it causes no message. */
const OF_PARTNERS = 'TILL_URL';
const KNOWN: readonly string[] = Object.values(SETTINGS).map(({ env }) => env);

/**
 * One message for each variable that looks like a misspelt setting. The environment contains variables of other programs, so a name
 * must be very close to a setting: `HOME` is not `HOST`, and `DATABASE_USER` is not `DATABASE_URL`. Messages never repeat a value,
 * which may be a secret.
 */
export function misspeltSettings(environment: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(environment).flatMap((name) => {
    if (KNOWN.includes(name) || name === OF_PARTNERS || (environment[name] ?? '').trim() === '') return [];
    const word = name.toUpperCase().replaceAll('-', '_');
    const isOwn = word.startsWith(OWN_PREFIX);
    const meant = isOwn
      ? nearestOwn(word)
      : nearest(word, KNOWN, ({ length }) => Math.min(length > SHORT ? 2 : 1, Math.floor(length / 4)));
    if (meant === undefined) return isOwn ? [`${name} is not a setting of Till`] : [];
    return [`${name} is not a setting of Till. Did you mean ${meant}?`];
  });
}

/**
 * The setting that a name with the prefix means. Some settings have the prefix and others do not, and people mix them up. So names
 * are compared without the prefix.
 */
function nearestOwn(word: string): string | undefined {
  const bare = (name: string) => name.replace(OWN_PREFIX, '');
  const meant = nearest(bare(word), KNOWN.map(bare));
  return KNOWN.find((name) => bare(name) === meant);
}
