import { isIP } from 'node:net';
import { isTestNetwork, type Registry } from '../chains/registry.ts';
import { hostUrls } from '../domain/database-hosts.ts';
import { isPublicAddress } from '../domain/public-address.ts';
import { keysIn, type PerNetwork, valueOn } from './network-kinds.ts';
import { PUBLISHED_KEYS } from './published-keys.ts';

/** The risks of a gateway with live networks, by name. `ACCEPT_RISKS` takes these names. */
export const RISK_NAMES = [
  'public_url_plain_http',
  'rpc_plain_http',
  'signer_plain_http',
  'database_without_tls',
  'database_tls_unverified',
  'default_database_password',
  'published_key',
  'single_endpoint',
  'no_screening_list',
  'no_budget',
] as const;

export type RiskName = (typeof RISK_NAMES)[number];

export interface Risk {
  readonly name: RiskName;
  readonly isRefused: boolean;
  /** The risk as a sentence. The public `/ready` shows it, so it contains no host, URL or key. */
  readonly message: string;
}

export interface RiskSettings {
  readonly registry: Registry;
  readonly publicUrl: string;
  readonly rpcUrls: ReadonlyMap<string, readonly string[]> | undefined;
  readonly externalSignerUrl: string | undefined;
  readonly databaseUrl: string | undefined;
  readonly databaseDirectUrl?: string | undefined;
  readonly databaseMigrateUrl?: string | undefined;
  readonly readDatabaseUrl?: string | undefined;
  readonly relayerKeys: PerNetwork<readonly string[]> | undefined;
  readonly intermediateKey: PerNetwork<string> | undefined;
  readonly otherIntermediateKeys?: PerNetwork<readonly string[]> | undefined;
  readonly outgoingPerHour: PerNetwork<bigint> | undefined;
  readonly screeningList: string | undefined;
  readonly acceptedRisks: readonly RiskName[];
}

/**
 * The risks of this configuration. A gateway with play money alone has none. A risk that the operator accepted by name does not
 * prevent the start, but is still reported.
 */
export function productionRisks(settings: RiskSettings): Risk[] {
  const live = [...(settings.rpcUrls ?? [])].filter(([network]) => !isTestNetwork(settings.registry, network));
  if (live.length === 0) return [];
  const found = [
    publicUrl(settings),
    ...endpoints(settings, live),
    plainHttp('signer_plain_http', 'EXTERNAL_SIGNER_URL', settings.externalSignerUrl),
    ...database('DATABASE_URL', settings.databaseUrl),
    ...database('DATABASE_DIRECT_URL', settings.databaseDirectUrl),
    ...database('DATABASE_MIGRATE_URL', settings.databaseMigrateUrl),
    ...database('READ_DATABASE_URL', settings.readDatabaseUrl),
    publishedKeys(settings),
    ...(settings.screeningList === undefined
      ? [warning('no_screening_list', 'SCREENING_LIST is not set: no account is screened before it pays.')]
      : []),
    budget(settings, live),
  ];
  return found
    .filter((risk) => risk !== undefined)
    .map((risk) => ({ ...risk, isRefused: risk.isRefused && !settings.acceptedRisks.includes(risk.name) }));
}

export function refusedRisks(settings: RiskSettings): string[] {
  return productionRisks(settings)
    .filter(({ isRefused }) => isRefused)
    .map(({ name, message }) => `${message} To start all the same, add ${name} to ACCEPT_RISKS`);
}

function publicUrl({ publicUrl: url }: RiskSettings): Risk | undefined {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:') return undefined;
  return {
    name: 'public_url_plain_http',
    isRefused: reachOf(hostname) !== 'this host',
    message: 'PUBLIC_URL is plain http: anybody on the way can change what payers see and sign.',
  };
}

type LiveNetwork = readonly [network: string, urls: readonly string[]];

function nameOf(registry: Registry, [network]: LiveNetwork): string {
  return registry.network(network)?.name ?? network;
}

function endpoints({ registry }: RiskSettings, live: readonly LiveNetwork[]): (Risk | undefined)[] {
  const alone = live.filter(([, urls]) => urls.length === 1).map((each) => nameOf(registry, each));
  return [
    ...new Map(
      live
        .flatMap(([, urls]) => urls.map((url) => plainHttp('rpc_plain_http', 'RPC_URLS', url)))
        .filter((risk) => risk !== undefined)
        // Of several risks with one name, the map keeps the last: a refused one, if there is any.
        .sort((a, b) => Number(a.isRefused) - Number(b.isRefused))
        .map((risk) => [risk.name, risk]),
    ).values(),
    alone.length === 0
      ? undefined
      : warning(
          'single_endpoint',
          `RPC_URLS has a single endpoint for ${alone.join(', ')}: larger payments there wait for a second one.`,
        ),
  ];
}

function plainHttp(name: RiskName, env: string, url: string | undefined): Risk | undefined {
  if (url === undefined || !url.startsWith('http:')) return undefined;
  const reach = reachOf(new URL(url).hostname);
  if (reach === 'this host') return undefined;
  const message = `${env} has a plain http URL of another host: anybody on the way can read and change the answers.`;
  return { name, isRefused: reach === 'public', message };
}

/**
 * Values of `sslmode` that encrypt without a check of the server. `prefer` counts like `require`: a node never falls back to plain
 * text.
 */
const UNVERIFIED_TLS = ['prefer', 'require', 'no-verify'];
const VERIFIED_TLS = ['verify-ca', 'verify-full'];
const DEFAULT_PASSWORDS = ['', 'admin', 'changeme', 'example', 'password', 'postgres', 'secret', 'till'];

function database(env: string, databaseUrl: string | undefined): Risk[] {
  const risks = databaseUrl === undefined ? [] : hostUrls(databaseUrl).flatMap((url) => host(env, new URL(url)));
  // Several hosts may have the same risk. The map keeps the last risk of each name: a refused one, if there is any.
  const inOrder = risks.toSorted((a, b) => Number(a.isRefused) - Number(b.isRefused));
  return [...new Map(inOrder.map((risk) => [risk.name, risk])).values()];
}

function host(env: string, url: URL): Risk[] {
  // A folder in place of a host is a Unix socket: the traffic stays on the machine, and the system identifies the client.
  if (url.searchParams.get('host')?.startsWith('/')) return [];
  const reach = reachOf(url.hostname);
  const password = decodeURIComponent(url.password);
  const isDefault = password === decodeURIComponent(url.username) || DEFAULT_PASSWORDS.includes(password);
  const mode = url.searchParams.get('sslmode') ?? (url.searchParams.get('ssl') === 'true' ? 'verify-full' : '');
  const risks: Risk[] = [];
  if (reach !== 'this host' && ![...UNVERIFIED_TLS, ...VERIFIED_TLS].includes(mode)) {
    const message = `${env} names another host without TLS: anybody on the way can read and change the database. Set sslmode=verify-full.`;
    risks.push({ name: 'database_without_tls', isRefused: reach === 'public', message });
  } else if (reach !== 'this host' && UNVERIFIED_TLS.includes(mode)) {
    const message = `${env} encrypts and does not check the server. Set sslmode=verify-full.`;
    risks.push(warning('database_tls_unverified', message));
  }
  if (isDefault) {
    const message = `${env} has no password, or one that everybody tries first.`;
    risks.push({ name: 'default_database_password', isRefused: reach !== 'this host', message });
  }
  return risks;
}

function publishedKeys({ relayerKeys, intermediateKey, otherIntermediateKeys }: RiskSettings): Risk | undefined {
  const keys = [...keysIn(relayerKeys), ...keysIn(intermediateKey), ...keysIn(otherIntermediateKeys)];
  if (!keys.some((key) => PUBLISHED_KEYS.has(key.toLowerCase()))) return undefined;
  const message =
    'RELAYER_KEYS, INTERMEDIATE_KEY or OTHER_INTERMEDIATE_KEYS has a key of a development chain. Everybody knows it: use one of your own.';
  return { name: 'published_key', isRefused: true, message };
}

/** The risk of payouts and refunds from the intermediate account without a limit. Gas costs have default limits, these have none. */
function budget(
  { registry, intermediateKey, outgoingPerHour }: RiskSettings,
  live: readonly LiveNetwork[],
): Risk | undefined {
  const unbounded = live.filter(
    ([network]) => valueOn(intermediateKey, network) !== undefined && valueOn(outgoingPerHour, network) === undefined,
  );
  if (unbounded.length === 0) return undefined;
  const names = unbounded.map((each) => nameOf(registry, each)).join(', ');
  return warning('no_budget', `OUTGOING_PER_HOUR is not set for ${names}: nothing limits payouts and refunds there.`);
}

function warning(name: RiskName, message: string): Risk {
  return { name, isRefused: false, message };
}

type Reach = 'this host' | 'private' | 'public';

/** The reach of a host. A name with dots counts as public, unless it has a suffix of private networks. */
function reachOf(hostname: string): Reach {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (host === '' || /^(.*\.)?localhost$|^127\.|^::1$/.test(host)) return 'this host';
  if (isIP(host) !== 0) return isPublicAddress(host) ? 'public' : 'private';
  return !host.includes('.') || /\.(internal|local|lan|home\.arpa)$/.test(host) ? 'private' : 'public';
}
