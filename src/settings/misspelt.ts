import { nearest } from '../domain/nearest.ts';
import { SETTINGS } from './config.ts';

/** Only Till's own variables begin so. */
const OWN_PREFIX = 'TILL_';
/** Two letters of a short name are too much of it: `SITE_URL` is not `SMTP_URL`. */
const SHORT = 8;
const KNOWN: readonly string[] = Object.values(SETTINGS).map(({ env }) => env);

/**
 * One sentence for each variable that looks like a misspelt setting. An environment is full of variables of other
 * programs, so a name must be closer to a setting than a mistyped command: `HOME` is not `HOST`, and `DATABASE_USER` is
 * not `DATABASE_URL`. Values are never repeated: the variable may hold a secret.
 */
export function misspeltSettings(environment: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(environment).flatMap((name) => {
    if (KNOWN.includes(name) || (environment[name] ?? '').trim() === '') return [];
    const word = name.toUpperCase().replaceAll('-', '_');
    const isOwn = word.startsWith(OWN_PREFIX);
    const meant = isOwn
      ? nearestOwn(word)
      : nearest(word, KNOWN, ({ length }) => Math.min(length > SHORT ? 2 : 1, Math.floor(length / 4)));
    if (meant === undefined) return isOwn ? [`${name} is not a setting of Till`] : [];
    return [`${name} is not a setting of Till. Did you mean ${meant}?`];
  });
}

/** The prefix is on one name and not on the others, which is easily mixed up: only the rest is compared. */
function nearestOwn(word: string): string | undefined {
  const bare = (name: string) => name.replace(OWN_PREFIX, '');
  const meant = nearest(bare(word), KNOWN.map(bare));
  return KNOWN.find((name) => bare(name) === meant);
}
