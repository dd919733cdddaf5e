import { isIP } from 'node:net';
import { resolve } from 'node:path';

/**
 * Every setting of the gateway: name, environment variable, type, default and what it is for. `.env.example` and
 * `docs/configuration.md` are generated from this table.
 */
export const SETTINGS = {
  port: setting('PORT', integer(1, 65_535), 8080, 'Port of the API and the pages.'),
  host: setting('HOST', text(), '127.0.0.1', 'Address the API and the pages listen on. `0.0.0.0` for every interface.'),
  publicUrl: setting(
    'PUBLIC_URL',
    origin(),
    undefined,
    'The origin payers and wallets see, used in gateway URLs.',
    '`http://localhost:$PORT`',
  ),
  home: setting('TILL_HOME', path(), './.till', 'Folder for everything the sandbox keeps: database, keys, logs.'),
  databaseUrl: setting(
    'DATABASE_URL',
    secret(databaseUrl()),
    undefined,
    'PostgreSQL to use, version 15 or newer. All nodes of one gateway share it.',
    'an embedded PostgreSQL under `TILL_HOME`',
  ),
  databasePoolSize: setting('DATABASE_POOL_SIZE', integer(2, 500), 10, 'Connections this node opens to PostgreSQL.'),
  metricsPort: setting(
    'METRICS_PORT',
    integer(0, 65_535),
    undefined,
    'Private port for Prometheus (`/metrics`).',
    '9464, or any free port when that one is taken',
  ),
  metricsHost: setting('METRICS_HOST', text(), '127.0.0.1', 'Address the metrics port listens on. Keep it private.'),
  logLevel: setting(
    'LOG_LEVEL',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'silent'),
    'info',
    'The least important level that is logged.',
  ),
  trustProxy: setting(
    'TRUST_PROXY',
    addresses(),
    [],
    'Comma-separated addresses or networks (CIDR) of reverse proxies whose `X-Forwarded-For` is believed.',
    'none: the peer address is the client',
  ),
  keyRequestsPerSecond: setting(
    'RATE_LIMIT_KEY_PER_SECOND',
    integer(1, 1_000_000),
    500,
    'Requests a second that one API key may send to one node.',
  ),
  addressRequestsPerSecond: setting(
    'RATE_LIMIT_ADDRESS_PER_SECOND',
    integer(1, 1_000_000),
    100,
    'Requests a second that one address may send to one node without a known API key.',
  ),
  heldPerKey: setting(
    'LONG_POLLS_PER_KEY',
    integer(0, 1_000_000),
    20_000,
    'Requests that one node holds at once for one API key (`maxPollMs`).',
  ),
  heldPerAddress: setting(
    'LONG_POLLS_PER_ADDRESS',
    integer(0, 1_000_000),
    200,
    'Requests that one node holds at once for one address without an API key.',
  ),
  maxEventLoopDelayMs: setting(
    'MAX_EVENT_LOOP_DELAY_MS',
    integer(0, 60_000),
    500,
    'Requests are refused with 503 while the event loop is this late. 0 never refuses.',
  ),
} as const satisfies Record<string, Setting<unknown>>;

export type Config = Readonly<{ [Name in keyof typeof SETTINGS]: Value<(typeof SETTINGS)[Name]> }> & {
  /** The gateway's own origin: `PUBLIC_URL`, or localhost on the port. */
  readonly publicUrl: string;
};

export interface Setting<T> {
  readonly env: string;
  readonly kind: Kind<T>;
  readonly default: T | undefined;
  readonly doc: string;
  /** What happens when it is unset, in words, where the default is not a plain value. */
  readonly defaultDoc: string | undefined;
}

interface Kind<T> {
  readonly name: string;
  readonly secret?: true;
  /** Returns the value, or a Problem that completes the sentence "PORT …". */
  readonly parse: (raw: string) => T | Problem;
}

class Problem {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Value<S> = S extends Setting<infer T> ? (S extends { default: undefined } ? T | undefined : T) : never;

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads all settings, or tells all that is wrong with them at once. */
export function readConfig(environment: Environment): { config: Config } | { problems: string[] } {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, { env, kind, default: fallback }] of Object.entries(SETTINGS) as [string, Setting<unknown>][]) {
    // An empty variable means "not set": that is how compose files and CI systems unset one.
    const raw = environment[env]?.trim() ?? '';
    const value = raw === '' ? fallback : kind.parse(raw);
    if (value instanceof Problem) problems.push(`${env} ${value.text}${kind.secret ? '' : ` (it is ${quote(raw)})`}`);
    else values[name] = value;
  }
  if (problems.length > 0) return { problems };
  values.publicUrl ??= `http://localhost:${values.port}`;
  values.home = resolve(values.home as string);
  return { config: values as Config };
}

/** The settings in force as people may see them: secrets print as `***`. */
export function describeConfig(config: Config): { setting: string; value: string }[] {
  return Object.entries(SETTINGS).map(([name, { env, kind }]) => {
    const value = config[name as keyof Config];
    const isSecret = (kind as Kind<unknown>).secret && value !== undefined;
    return { setting: env, value: isSecret ? '***' : value === undefined ? '' : String(value) };
  });
}

/** The secret values in force, so that the log can strike them out wherever they turn up. */
export function secretValues(config: Config): string[] {
  return config.databaseUrl === undefined
    ? []
    : [config.databaseUrl, decodeURIComponent(new URL(config.databaseUrl).password)];
}

function setting<const T, const D extends T | undefined>(
  env: string,
  kind: Kind<T>,
  fallback: D,
  doc: string,
  defaultDoc?: string,
) {
  return { env, kind, default: fallback, doc, defaultDoc } as Omit<Setting<T>, 'default'> & { default: D };
}

function quote(raw: string): string {
  return JSON.stringify(raw.length > 60 ? `${raw.slice(0, 60)}…` : raw);
}

function text(): Kind<string> {
  return { name: 'text', parse: (raw) => raw };
}

function path(): Kind<string> {
  return { name: 'path', parse: (raw) => raw };
}

function integer(min: number, max: number): Kind<number> {
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

function oneOf<const T extends string>(...words: T[]): Kind<T> {
  return {
    name: words.map((word) => `\`${word}\``).join(', '),
    parse: (raw) => words.find((word) => word === raw) ?? new Problem(`must be one of ${words.join(', ')}`),
  };
}

function origin(): Kind<string> {
  return {
    name: 'origin, such as `https://pay.example.com`',
    parse: (raw) => {
      const url = URL.parse(raw);
      const isOrigin = url !== null && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href;
      return isOrigin ? url.origin : new Problem('must be an http(s) origin without path, query or credentials');
    },
  };
}

function databaseUrl(): Kind<string> {
  return {
    name: 'URL, such as `postgres://user:password@host:5432/till`',
    parse: (raw) => {
      const url = URL.parse(raw);
      const isDatabase = url !== null && /^postgres(ql)?:$/.test(url.protocol) && isDecodable(url.password);
      return isDatabase ? raw : new Problem('must be a URL such as postgres://user:password@host:5432/till');
    },
  };
}

function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== undefined;
  } catch {
    return false;
  }
}

function addresses(): Kind<readonly string[]> {
  return {
    name: 'list of addresses',
    parse: (raw) => {
      const list = raw.split(',').map((item) => item.trim());
      const wrong = list.find((item) => {
        const [address = '', bits, ...rest] = item.split('/');
        const version = isIP(address);
        const isPrefix = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
        return version === 0 || !isPrefix || rest.length > 0;
      });
      return wrong === undefined
        ? list
        : new Problem(`must list IP addresses or networks, and ${quote(wrong)} is neither`);
    },
  };
}

function secret<T>(kind: Kind<T>): Kind<T> {
  return { ...kind, secret: true };
}
