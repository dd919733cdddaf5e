import { resolve } from 'node:path';
import { type HttpSourceTerms, parseRateSources } from '../rates/rate-sources.ts';
import {
  addresses,
  databaseUrl,
  flag,
  integer,
  type Kind,
  oneOf,
  origin,
  Problem,
  path,
  quote,
  secret,
  text,
} from './kinds.ts';
import {
  account,
  coins,
  depths,
  httpUrl,
  isAddress,
  relayerKeys,
  rpcUrls,
  SANDBOX_NETWORK,
  secretsOfUrl,
  signingKey,
  tokens,
  valueOn,
} from './network-kinds.ts';

/**
 * Every setting of the gateway: name, environment variable, type, default and purpose. `.env.example` and
 * `docs/configuration.md` are generated from this table.
 */
export const SETTINGS = {
  port: setting('PORT', integer(1, 65_535), 8080, 'Port of the API and the pages.'),
  host: setting('HOST', text(), '127.0.0.1', 'Address the API and the pages listen on. `0.0.0.0` for every interface.'),
  publicUrl: setting(
    'PUBLIC_URL',
    origin(),
    undefined,
    'The origin payers and wallets see, used in gateway URLs. Avoid a host name with `pay.` in it: wallets take its links for those of another service.',
    '`http://localhost:$PORT`',
  ),
  qrLink: setting(
    'QR_LINK',
    oneOf('plain', 'gateway'),
    'plain',
    'The link in QR codes and app links of the checkout. `plain` is `/c/…`, which opens the page; `gateway` is the gateway URL, for wallets of your own that know it: others ask another service for it, as it holds `pay_`.',
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
  listPoolSize: setting(
    'DATABASE_LIST_POOL_SIZE',
    integer(2, 100),
    6,
    'Further connections this node opens to PostgreSQL, for lists and searches alone. A list uses two.',
  ),
  listTimeoutMs: setting(
    'LIST_TIMEOUT_MS',
    integer(50, 15_000),
    2_000,
    'The longest time a statement of a list may run, in milliseconds. A list that needs more is refused with 429.',
  ),
  listCostMsPerSecond: setting(
    'LIST_COST_MS_PER_SECOND',
    integer(10, 1_000_000),
    1_000,
    'Milliseconds of database time that lists of one API key may use in each second on one node.',
  ),
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
    'Requests are refused with 503 while the event loop is this late: lists and pages at 0.4 of it, routes that move money last. 0 never refuses.',
  ),
  rpcUrls: setting(
    'RPC_URLS',
    secret(rpcUrls()),
    undefined,
    'RPC endpoints of the networks to take payments on. Two must agree before a payment counts, so name two or, better, three for each network.',
    'a sandbox chain of its own, with a demo partner',
  ),
  relayerKeys: setting(
    'RELAYER_KEYS',
    secret(relayerKeys()),
    undefined,
    'Private keys of the accounts that send transactions and pay their gas, or addresses whose keys `EXTERNAL_SIGNER_URL` holds. They can take no money of payers or merchants.',
    'none: nothing is offered on networks without one; the sandbox chain has its own',
  ),
  externalSignerUrl: setting(
    'EXTERNAL_SIGNER_URL',
    secret(httpUrl()),
    undefined,
    'A program that signs for the addresses in `RELAYER_KEYS` and `INTERMEDIATE_KEY`: it is sent `{address, digest}` and answers `{r, s, v}`.',
    'none',
  ),
  relayerMinBalance: setting(
    'RELAYER_MIN_BALANCE',
    coins(),
    undefined,
    "An alert is raised when a relayer has less of a network's own coin.",
    '`0.01`',
  ),
  feeAccount: setting(
    'FEE_ACCOUNT',
    account(),
    undefined,
    'Where fees are paid to. Needed for every network in `RPC_URLS`.',
    'an account of the sandbox',
  ),
  intermediateAccount: setting(
    'INTERMEDIATE_ACCOUNT',
    account(),
    undefined,
    'The account that keeps payments to merchants without a destination for the asset. Needed for every network in `RPC_URLS`.',
    'an account of the sandbox',
  ),
  intermediateKey: setting(
    'INTERMEDIATE_KEY',
    secret(signingKey()),
    undefined,
    'Private key of `INTERMEDIATE_ACCOUNT`, or its address when `EXTERNAL_SIGNER_URL` holds the key. It signs payouts and refunds, and pays gas only for those in native coin.',
    'none: money on the account stays there; the sandbox chain has its own key',
  ),
  finalityDepths: setting(
    'FINALITY_DEPTHS',
    depths(),
    undefined,
    'The depth in blocks at which a payment succeeds, if it shall be more than the default.',
    'the depths on the page about finality',
  ),
  loneCeiling: setting(
    'SINGLE_ENDPOINT_CEILING',
    tokens(),
    undefined,
    'The largest payment, in tokens, that succeeds on the word of a single endpoint, at three times the depth. Larger ones wait for a second endpoint.',
    '`100`',
  ),
  rateSources: setting(
    'RATE_SOURCES',
    secret(rateSources()),
    undefined,
    'The sources of exchange rates: at least two for each pair. Without a rate, only tokens of the currency itself are offered.',
    'none; the sandbox has a fixed table',
  ),
  screeningList: setting(
    'SCREENING_LIST',
    path(),
    undefined,
    'File of accounts that may not pay, one a line; read again when it changes.',
    'nobody is screened',
  ),
  sandbox: setting(
    'SANDBOX',
    flag(),
    undefined,
    'Play money on a sandbox chain, with a demo partner. A `DATABASE_URL` without `RPC_URLS` needs `1` here, so that no sandbox is started in a database by mistake. `0` refuses to start one.',
    '`1` when neither `DATABASE_URL` nor `RPC_URLS` is set',
  ),
  sandboxRpcPort: setting(
    'SANDBOX_RPC_PORT',
    integer(1, 65_535),
    undefined,
    "Port of the sandbox chain's RPC on this machine.",
    'a free port, the same at each start',
  ),
  sandboxBlockMs: setting(
    'SANDBOX_BLOCK_MS',
    integer(0, 60_000),
    250,
    'Milliseconds between blocks of the sandbox chain. 0 makes one at once.',
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
  /** The behaviour without a value, in words, where the default is not a plain value. */
  readonly defaultDoc: string | undefined;
}

type Value<S> = S extends Setting<infer T> ? (S extends { default: undefined } ? T | undefined : T) : never;

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads all settings, or returns all problems at once. */
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
  if (problems.length === 0) problems.push(...contradictions(values as unknown as Config));
  if (problems.length > 0) return { problems };
  values.publicUrl ??= `http://localhost:${values.port}`;
  values.home = resolve(values.home as string);
  return { config: values as Config };
}

/** Reads the settings of a gateway that starts. An operator command needs less: a database alone is enough for it. */
export function readStartConfig(environment: Environment): ReturnType<typeof readConfig> {
  const read = readConfig(environment);
  if ('problems' in read) return read;
  const problems = missingNetworks(read.config);
  return problems.length === 0 ? read : { problems };
}

/** The settings in force as people may see them: secrets print as `***`. */
export function describeConfig(config: Config): { setting: string; value: string }[] {
  return Object.entries(SETTINGS).map(([name, { env, kind }]) => {
    const value = config[name as keyof Config];
    const { secret: isSecret, show = String } = kind as Kind<unknown>;
    return { setting: env, value: value === undefined ? '' : isSecret ? '***' : show(value) };
  });
}

/** Problems of settings that are valid alone and contradict each other. */
function contradictions(config: Config): string[] {
  const keys = [
    ['RELAYER_KEYS', relayersIn(config)],
    ['INTERMEDIATE_KEY', intermediatesIn(config)],
  ] as const;
  const unsigned = keys.filter(([, own]) => own.some(isAddress) && config.externalSignerUrl === undefined);
  const signers = unsigned.map(
    ([env]) => `${env} has addresses, and EXTERNAL_SIGNER_URL, which would sign for them, is not set`,
  );
  return [...missingAccounts(config), ...signers, ...sandboxContradictions(config)];
}

function sandboxContradictions({ sandbox, rpcUrls = new Map() }: Config): string[] {
  const networks = [...rpcUrls.keys()];
  const real = networks.filter((network) => network !== SANDBOX_NETWORK);
  if (sandbox === true && real.length > 0) return [`SANDBOX is 1, and RPC_URLS names ${real.join(', ')}`];
  if (sandbox === false && real.length < networks.length) return ['SANDBOX is 0, and RPC_URLS names the sandbox chain'];
  return [];
}

/** A sandbox adds a demo partner with a key, which must not appear in a database by surprise. */
function missingNetworks({ sandbox, rpcUrls, databaseUrl }: Config): string[] {
  if (rpcUrls !== undefined || sandbox === true) return [];
  if (sandbox === false) return ['RPC_URLS must name the networks to take payments on, because SANDBOX is 0'];
  if (databaseUrl === undefined) return [];
  return [
    'RPC_URLS must name the networks to take payments on, because DATABASE_URL is set. ' +
      'To run a sandbox with play money and a demo partner in that database, set SANDBOX=1',
  ];
}

function relayersIn({ relayerKeys: relayers }: Config): string[] {
  return [...(relayers?.everywhere ?? []), ...[...(relayers?.on.values() ?? [])].flat()];
}

function intermediatesIn({ intermediateKey: key }: Config): string[] {
  return [...(key?.everywhere === undefined ? [] : [key.everywhere]), ...(key?.on.values() ?? [])];
}

/** Money must never go to an account that the operator did not name. */
function missingAccounts({ rpcUrls = new Map(), feeAccount, intermediateAccount }: Config): string[] {
  const accounts = [
    ['FEE_ACCOUNT', feeAccount],
    ['INTERMEDIATE_ACCOUNT', intermediateAccount],
  ] as const;
  const networks = [...rpcUrls.keys()].filter((network) => network !== SANDBOX_NETWORK);
  return accounts.flatMap(([env, value]) => {
    const missing = networks.filter((network) => valueOn(value, network) === undefined);
    return missing.length === 0 ? [] : [`${env} must name an account on ${missing.join(', ')}, as RPC_URLS does`];
  });
}

/** The secret values in force, which the log masks. */
export function secretValues(config: Config): string[] {
  const endpoints = [...(config.rpcUrls?.values() ?? []), config.externalSignerUrl ?? []].flat();
  const sources = (config.rateSources ?? []).flatMap(({ requests }) => requests.map(({ url }) => url));
  const keys = [...relayersIn(config), ...intermediatesIn(config)].filter((relayer) => !isAddress(relayer));
  return [
    ...(config.databaseUrl === undefined ? [] : secretsOfDatabaseUrl(config.databaseUrl)),
    ...[...endpoints, ...sources].flatMap(secretsOfUrl),
    ...keys.flatMap((key) => [key, key.slice(2)]),
  ];
}

function secretsOfDatabaseUrl(url: string): string[] {
  return [url, decodeURIComponent(new URL(url).password)];
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

function rateSources(): Kind<readonly HttpSourceTerms[]> {
  return {
    name: 'sources, such as `coinbase https://api.coinbase.com/v2/prices/{base}-{quote}/spot#/data/amount ETH/USD; …`',
    parse: (raw) => {
      const parsed = parseRateSources(raw);
      return parsed.ok ? parsed.value : new Problem(parsed.problem);
    },
  };
}
