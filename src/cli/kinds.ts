import type { Registry } from '../chains/registry.ts';
import { isAddressOrNetwork } from '../domain/address-list.ts';
import { parseApiKey } from '../domain/api-key.ts';
import type { Pair } from '../domain/rate.ts';
import { isScope, SCOPES, type Scope } from '../domain/scope.ts';
import { isPinnable, KNOWN_VERSIONS, type PinnableVersion } from '../domain/version.ts';

export interface Kind<T> {
  /** The name of the value in help, as in `--overlap <duration>`. */
  readonly placeholder: string;
  /** Returns the value, or a Problem. In messages, the text of the Problem follows the name of the option: "--overlap must be …". */
  readonly parse: (raw: string, nowMs: number, registry: Registry) => T | Problem;
}

export class Problem {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const DURATION = /^(0|[1-9][0-9]{0,6})([smhd])$/;
/** The longest duration that is accepted for a future time. An API key that should work for longer needs no expiry. */
const LONGEST_LIFE = '3650d';

const MOMENT = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d{1,3})?(?:Z|[+-](\d{2}):(\d{2}))$/;

/** Names and labels in any script, without control characters and lone surrogates, and not only white space. */
const TEXT = /^(?=.*\S)[^\p{Cc}\p{Cs}]*$/u;
const MAX_TEXT_LENGTH = 256;
const MAX_URL_LENGTH = 2048;

/** The origin of a web page. Stricter than URL parsers, because `;`, `,` and `*` have a meaning in a content security policy. */
const ORIGIN = /^(https?):\/\/([a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d+)?$/;
const LOCAL = /^(?:(?:[a-z0-9-]+\.)*localhost|127\.0\.0\.1|\[::1\])$/;

export const text: Kind<string> = {
  placeholder: 'text',
  parse: (raw) =>
    TEXT.test(raw) && [...raw].length <= MAX_TEXT_LENGTH
      ? raw
      : new Problem(`must be 1 to ${MAX_TEXT_LENGTH} characters, no control characters, and not blank`),
};

/** Any text that could be an id. The database decides whether the object exists. */
export const id: Kind<string> = {
  placeholder: 'id',
  parse: (raw) => {
    if (parseApiKey(raw) !== undefined) return new Problem('must be the id of the key, not its secret: see keys list');
    return /^[\x21-\x7e]{1,256}$/.test(raw) ? raw : new Problem('must be an id');
  },
};

export const scope: Kind<Scope> = {
  placeholder: 'scope',
  parse: (raw) => (isScope(raw) ? raw : new Problem(`must be one of ${SCOPES.join(', ')}`)),
};

/** A pair of two different symbols, such as `ETH/EUR`: symbols of coins or codes of currencies. */
export const pair: Kind<Pair> = {
  placeholder: 'pair',
  parse: (raw) => {
    const [, base = '', quote = ''] = /^([A-Z0-9]{2,8})\/([A-Z0-9]{2,8})$/.exec(raw) ?? [];
    return base === quote ? new Problem('must be two symbols, such as ETH/EUR') : { base, quote };
  },
};

export const network: Kind<string> = {
  placeholder: 'address|cidr',
  parse: (raw) =>
    isAddressOrNetwork(raw) ? raw : new Problem('must be an IP address or a network, such as 203.0.113.0/24'),
};

export const version: Kind<PinnableVersion> = {
  placeholder: 'date',
  parse: (raw) =>
    isPinnable(raw) ? raw : new Problem(`must be a published version: ${KNOWN_VERSIONS.filter(isPinnable).join(', ')}`),
};

export const frameOrigin: Kind<string> = {
  placeholder: 'origin',
  parse: (raw) => {
    const [, scheme, host = ''] = ORIGIN.exec(raw) ?? [];
    if (scheme === undefined || URL.parse(raw)?.origin !== raw) return new Problem(`must be an origin${hint(raw)}`);
    return scheme === 'https' || LOCAL.test(host) ? raw : new Problem('must use https, unless it is localhost');
  },
};

function hint(raw: string): string {
  const origin = URL.parse(raw)?.origin ?? '';
  return ORIGIN.test(origin) ? `: ${origin}` : ' such as https://shop.example';
}

/** An https URL without credentials, because other people will see the URL. */
export const httpsUrl: Kind<string> = {
  placeholder: 'url',
  parse: (raw) => {
    const url = /^https:\/\/[^\s\p{Cc}\p{Cs}]+$/u.test(raw) && raw.length <= MAX_URL_LENGTH ? URL.parse(raw) : null;
    const isGood = url !== null && url.username === '' && url.password === '';
    return isGood ? raw : new Problem('must be an https URL without credentials');
  },
};

export const gatewayUrl: Kind<string> = {
  placeholder: 'url',
  parse: (raw) =>
    isPlainUrl(raw) && !raw.includes('?') ? raw : new Problem('must be the http or https URL of a gateway'),
};

export const receiverUrl: Kind<string> = {
  placeholder: 'url',
  parse: (raw) =>
    isPlainUrl(raw) ? raw : new Problem('must be an http or https URL without credentials and fragment'),
};

function isPlainUrl(raw: string): boolean {
  const url = raw.length <= MAX_URL_LENGTH ? URL.parse(raw) : null;
  return url !== null && /^https?:$/.test(url.protocol) && url.username + url.password + url.hash === '';
}

/** A secret. It is not validated, because an error message would contain it. */
export const secretText: Kind<string> = { placeholder: 'secret', parse: (raw) => raw };

export const eventPattern: Kind<string> = {
  placeholder: 'type',
  parse: (raw) =>
    /^[a-z_]{1,40}\.(\*|[a-z_]{1,40})$/.test(raw)
      ? raw
      : new Problem('must be a type of events such as payment.succeeded, or payment.* for all that begin so'),
};

export function oneOf<const T extends string>(words: readonly T[]): Kind<T> {
  const list = words.join('|');
  return {
    placeholder: list,
    parse: (raw) => words.find((word) => word === raw) ?? new Problem(`must be one of ${words.join(', ')}`),
  };
}

/** A duration of at most `longest`, typed as `90d`, `24h`, `30m` or `45s`, and parsed to milliseconds. */
export function duration(longest: string): Kind<number> {
  return {
    placeholder: 'duration',
    parse: (raw) => {
      const ms = durationMs(raw);
      const isGood = ms !== undefined && ms <= (durationMs(longest) ?? 0);
      return isGood ? ms : new Problem(`must be a duration such as 90d, 24h, 30m or 45s, at most ${longest}`);
    },
  };
}

/** A future time: a timestamp with its offset, or a duration from now. */
export const future: Kind<Date> = {
  placeholder: 'time|duration',
  parse: (raw, nowMs, registry) => {
    const life = duration(LONGEST_LIFE).parse(raw, nowMs, registry);
    const atMs = life instanceof Problem ? momentMs(raw) : nowMs + life;
    if (atMs === undefined) {
      return new Problem('must be a time with its offset, such as 2030-01-01T00:00:00Z, or a duration such as 90d');
    }
    return atMs > nowMs ? new Date(atMs) : new Problem('must be in the future');
  },
};

export const futureOrNever: Kind<Date | null> = {
  placeholder: 'time|duration|never',
  parse: (raw, nowMs, registry) => {
    const at = raw === 'never' ? null : future.parse(raw, nowMs, registry);
    return at instanceof Problem ? new Problem(`${at.text}, or never`) : at;
  },
};

/** A time: a timestamp with its offset, or a day, which means its beginning in UTC. */
export const moment: Kind<Date> = {
  placeholder: 'time',
  parse: (raw) => {
    const atMs = momentMs(/^\d{4}-\d{2}-\d{2}$/.test(raw) ? `${raw}T00:00:00Z` : raw);
    if (atMs !== undefined) return new Date(atMs);
    return new Problem('must be a day such as 2026-01-31, or a time with its offset, such as 2026-01-31T12:00:00Z');
  },
};

export const blockNumber: Kind<number> = {
  placeholder: 'block',
  parse: (raw) => (WHOLE.test(raw) ? Number(raw) : new Problem('must be the number of a block')),
};

export const position: Kind<number> = {
  placeholder: 'position',
  parse: (raw) => (WHOLE.test(raw) ? Number(raw) : new Problem('must be the position of an event')),
};

const WHOLE = /^(0|[1-9][0-9]{0,14})$/;

function durationMs(raw: string): number | undefined {
  const [, count, unit] = DURATION.exec(raw) ?? [];
  return count === undefined ? undefined : Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
}

/** The time in milliseconds. Stricter than `Date.parse`, which reads 30 February as 2 March and a time without offset as local time. */
function momentMs(raw: string): number | undefined {
  const match = MOMENT.exec(raw);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, offsetHour = 0, offsetMinute = 0] = match
    .slice(1)
    .map((part) => Number(part ?? 0));
  const date = new Date(Date.UTC(year, month - 1, day));
  const isOnCalendar = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  const isOnClock = hour < 24 && minute < 60 && second < 60 && offsetHour < 24 && offsetMinute < 60;
  return isOnCalendar && isOnClock ? Date.parse(raw) : undefined;
}
