import type { Registry } from '../chains/registry.ts';
import { isAddressOrNetwork } from '../domain/address-list.ts';
import { hostUrls } from '../domain/database-hosts.ts';
import { LEAST_SECRET_BYTES } from '../runtime/secrets.ts';

/** The type of a setting: how its text is parsed, and how its value is shown. */
export interface Kind<T> {
  readonly name: string;
  /** Returns the value, or a Problem that completes the sentence "PORT …". */
  readonly parse: (raw: string, registry: Registry) => T | Problem;
  /** The value as text. Needed if `String(value)` is not readable. */
  show?(value: T): string;
  /** The strings in the value that the log must mask, each in every encoding. Only kinds of secret settings have this function. */
  secretsOf?(value: T): readonly string[];
}

export class Problem {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export function quote(raw: string): string {
  return JSON.stringify(raw.length > 60 ? `${raw.slice(0, 60)}…` : raw);
}

export function text(): Kind<string> {
  return { name: 'text', parse: (raw) => raw };
}

export function path(): Kind<string> {
  return { name: 'path', parse: (raw) => raw };
}

export function integer(min: number, max: number): Kind<number> {
  return {
    name: `whole number, ${min} to ${max}`,
    parse: (raw) => {
      const value = Number(raw);
      return /^\d{1,9}$/.test(raw) && value >= min && value <= max
        ? value
        : new Problem(`must be a whole number from ${min} to ${max}`);
    },
  };
}

export function oneOf<const T extends string>(...words: T[]): Kind<T> {
  return {
    name: words.map((word) => `\`${word}\``).join(', '),
    parse: (raw) => words.find((word) => word === raw) ?? new Problem(`must be one of ${words.join(', ')}`),
  };
}

export function flag(): Kind<boolean> {
  return {
    name: '`1` or `0`',
    parse: (raw) => (raw === '1' ? true : raw === '0' ? false : new Problem('must be 1 or 0')),
    show: (value) => (value ? '1' : '0'),
  };
}

export function origin(): Kind<string> {
  return {
    name: 'origin, such as `https://till.example.com`',
    parse: (raw) => {
      const url = URL.parse(raw);
      const isOrigin = url !== null && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href;
      return isOrigin ? url.origin : new Problem('must be an http(s) origin without path, query or credentials');
    },
  };
}

export function databaseUrl(): Kind<string> {
  return {
    name: 'URL, such as `postgres://user:password@host:5432/till`',
    parse: (raw) => {
      const urls = hostUrls(raw).map((each) => URL.parse(each));
      const isDatabase = urls.every(
        (url) => url !== null && /^postgres(ql)?:$/.test(url.protocol) && isDecodable(url.password),
      );
      if (!isDatabase) return new Problem('must be a URL such as postgres://user:password@host:5432/till');
      const target = urls[0]?.searchParams.get('target_session_attrs') ?? 'read-write';
      return ['read-write', 'primary'].includes(target)
        ? raw
        : new Problem('must have no other target_session_attrs than read-write: nodes write');
    },
    secretsOf: (url) => [url, ...hostUrls(url).flatMap((each) => [each, decodeURIComponent(new URL(each).password)])],
  };
}

function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== undefined;
  } catch {
    return false;
  }
}

export function addresses(): Kind<readonly string[]> {
  return {
    name: 'list of addresses',
    parse: (raw) => {
      const list = raw.split(',').map((item) => item.trim());
      const wrong = list.find((item) => !isAddressOrNetwork(item));
      return wrong === undefined
        ? list
        : new Problem(`must list IP addresses or networks, and ${quote(wrong)} is neither`);
    },
  };
}

export function names<const T extends string>(what: string, words: readonly T[]): Kind<readonly T[]> {
  return {
    name: `list of names of ${what}`,
    parse: (raw) => {
      const list = raw.split(',').map((item) => item.trim());
      const known = list.flatMap((item) => words.find((word) => word === item) ?? []);
      return known.length === list.length ? known : new Problem(`must list names of ${what}: ${words.join(', ')}`);
    },
  };
}

/** The smallest number of different byte values in a secret. Random bytes have many. A text or pattern made by hand has fewer. */
const LEAST_DIFFERENT_BYTES = 12;
/** The largest number of master secrets: the current one and the previous one. */
const MOST_SECRETS = 2;

/** Master secrets in base64, the newest first. */
export function masterSecrets(): Kind<readonly Uint8Array[]> {
  return {
    name: `base64 of ${LEAST_SECRET_BYTES} random bytes or more; two while rotating, the new one first`,
    parse: (raw) => {
      const texts = raw.split(/[\s,]+/);
      if (texts.length > MOST_SECRETS) return new Problem(`must be at most ${MOST_SECRETS} secrets`);
      if (!texts.every((text) => /^[\w+/-]+={0,2}$/.test(text))) return new Problem('must be base64');
      const secrets = texts.map((text) => new Uint8Array(Buffer.from(text, 'base64')));
      if (secrets.some(({ length }) => length < LEAST_SECRET_BYTES)) {
        return new Problem(`must be base64 of at least ${LEAST_SECRET_BYTES} bytes`);
      }
      const isRandom = secrets.every((bytes) => new Set(bytes).size >= LEAST_DIFFERENT_BYTES);
      return isRandom ? secrets : new Problem('must be random bytes: `npm run till -- secret create` makes some');
    },
    secretsOf: (secrets) => secrets.flatMap(spellingsOf),
  };
}

function spellingsOf(bytes: Uint8Array): string[] {
  const buffer = Buffer.from(bytes);
  return [buffer.toString('base64').replaceAll('=', ''), buffer.toString('base64url')];
}
