import { resolve } from 'node:path';
import { isTestNetwork } from '../chains/networks.ts';
import { type Config, SETTINGS, type Setting } from './config.ts';
import { type Kind, Problem, quote } from './kinds.ts';
import { isAddress, SANDBOX_NETWORK, secretsOfUrl, valueOn } from './network-kinds.ts';

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
  const problems = [...missingNetworks(read.config), ...missingSecret(read.config)];
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
  const secrets =
    config.secret !== undefined && config.secretFile !== undefined
      ? ['TILL_SECRET and TILL_SECRET_FILE are both set']
      : [];
  return [...missingAccounts(config), ...signers, ...secrets, ...sandboxContradictions(config)];
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

/** A gateway with play money makes a master secret of its own. Where money is real, the operator must know and keep it. */
function missingSecret(config: Config): string[] {
  if (hasOnlyPlayMoney(config) || config.secret !== undefined || config.secretFile !== undefined) return [];
  return [
    'TILL_SECRET or TILL_SECRET_FILE must be set, because RPC_URLS names a live network: ' +
      '`npm run till -- secret create` makes a secret',
  ];
}

/** True if no network in use is a live one. */
export function hasOnlyPlayMoney({ rpcUrls = new Map() }: Config): boolean {
  return [...rpcUrls.keys()].every(isTestNetwork);
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
    ...(config.secret ?? []).flatMap(spellingsOfSecret),
  ];
}

function spellingsOfSecret(bytes: Uint8Array): string[] {
  const base64 = Buffer.from(bytes).toString('base64');
  return [base64.replaceAll('=', ''), Buffer.from(bytes).toString('base64url')];
}

function secretsOfDatabaseUrl(url: string): string[] {
  return [url, decodeURIComponent(new URL(url).password)];
}
