import { access } from 'node:fs/promises';
import { arch, hostname, release, type } from 'node:os';
import { join } from 'node:path';
import { examine } from '../actions/oversight/doctor/examine.ts';
import type { ConfiguredNetwork, ExamineDeps } from '../actions/oversight/doctor/examine-deps.ts';
import type { Chains } from '../chains/chains.ts';
import { familyOf } from '../chains/families.ts';
import { redactApiKeys } from '../domain/api-key.ts';
import { hostUrls } from '../domain/database-hosts.ts';
import { diagnose } from '../domain/doctor/diagnose.ts';
import type { Diagnosis } from '../domain/doctor/diagnosis.ts';
import type { Asked, ProgramFacts, SettingsFacts } from '../domain/doctor/facts.ts';
import { askPage } from '../runtime/ask-back.ts';
import { strikeSecrets } from '../runtime/log.ts';
import { programVersion } from '../runtime/own-package.ts';
import { readServerCertificate } from '../runtime/server-certificate.ts';
import type { Log } from '../runtime/world.ts';
import { SANDBOX_NETWORK } from '../sandbox/sandbox-network.ts';
import { minBalanceOn } from '../settings/chains.ts';
import { hasOnlyPlayMoney } from '../settings/contradictions.ts';
import { openSecrets } from '../settings/master-secret.ts';
import { misspeltSettings } from '../settings/misspelt.ts';
import { productionRisks } from '../settings/production-risks.ts';
import { describeChanges, readStartConfig } from '../settings/read-config.ts';
import { ROLES } from '../settings/roles.ts';
import { secretValues } from '../settings/secret-values.ts';
import { encryptedHosts, readDatabaseCertificate } from '../store/plumbing/database-certificate.ts';
import { findStandby } from '../store/plumbing/replica.ts';
import { knownNetworks, withKnownChains } from './chains.ts';
import { type Context, findServer, openForReading } from './connect.ts';

/**
 * The inputs of an examination: the settings, the environment and the clock of the command or node that runs it. The clock may be
 * wrong.
 */
export type Examiner = Pick<Context, 'config' | 'world' | 'environment'>;
type Examining = Examiner & Pick<Context, 'log'>;

const CERTIFICATE_MS = 5_000;
const HTTPS_PORT = 443;
const ignore = () => {};
/** A log that drops everything: the examination reports the problems of its connections as findings. */
export const QUIET: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore, fatal: ignore };
const NO_CHAINS: Chains = { find: () => undefined, list: () => [] };

/** Examines the whole gateway, over connections of its own. It only reads, and it masks secrets in the findings. */
export async function examineGateway({ config, world, environment }: Examiner): Promise<Diagnosis> {
  const secrets = secretValues(config);
  const strike = (text: string) => strikeSecrets(redactApiKeys(text), secrets);
  return diagnose(await gather({ config, world, environment, log: QUIET }, strike));
}

/**
 * Collects the facts for the diagnosis. A wrong account or key of a network becomes a finding, and everything else is still
 * examined.
 */
async function gather(context: Examining, strike: (text: string) => string) {
  let networks: Asked<readonly ConfiguredNetwork[]>;
  try {
    networks = { known: await configuredEndpoints(context) };
    return await withKnownChains(context, async (chains) =>
      examine(await depsOf(context, { networks, chains, strike })),
    );
  } catch (error) {
    const problem = (error as Error).message;
    networks = { unknown: 'the settings of a network are wrong' };
    return examine(await depsOf(context, { networks, chains: NO_CHAINS, strike, problem }));
  }
}

async function depsOf(
  context: Examining,
  {
    networks,
    chains,
    strike,
    problem,
  }: Pick<ExamineDeps, 'networks' | 'chains' | 'strike'> & { readonly problem?: string },
): Promise<ExamineDeps> {
  const { config, world } = context;
  const url = await findServer(context).catch(() => undefined);
  const folders = (await isThere(config.home)) ? [{ what: 'TILL_HOME', path: config.home }] : [];
  return {
    world,
    openDatabase: () => open(url),
    replica: replicaOf(context),
    strike,
    program: programFacts(),
    settings: settingsFacts(context, problem),
    networks,
    chains,
    minBalance: (network) => minBalanceOn(config, network),
    roles: ROLES,
    secretIds: await secretIds(context),
    folders: [...folders, { what: 'this folder', path: process.cwd() }],
    isDatabaseHere: url === undefined || hostUrls(url).every(isHere),
    publicUrl: publicUrlOf(context),
    certificates: [...certificateOfPages(context, config.publicUrl), ...certificatesOfDatabase(context, url)],
  };
}

async function open(url: string | undefined) {
  if (url === undefined) {
    throw new Error('DATABASE_URL is not set, and no gateway with a PostgreSQL of its own runs here');
  }
  return openForReading(url, 'till-doctor');
}

function replicaOf({ config }: Examining): ExamineDeps['replica'] {
  const { readDatabaseUrl: url, readMaxLagMs: maxLagMs } = config;
  if (url === undefined) return null;
  return { maxLagMs, open: async () => openForReading((await findStandby(url)).url, 'till-doctor') };
}

async function configuredEndpoints(context: Examining): Promise<ConfiguredNetwork[]> {
  const { world, log } = context;
  return (await knownNetworks(context)).map(({ network, endpoints }) => ({
    network,
    isSandbox: network.chainId === SANDBOX_NETWORK,
    endpoints: endpoints.map(
      (url) => () => familyOf(network.chainId).createChain({ world, log, network, endpoints: [url] }),
    ),
  }));
}

function programFacts(): ProgramFacts {
  const system = `${type()} ${release()} ${arch()}`;
  return { version: programVersion(), node: process.version, host: hostname(), system };
}

function settingsFacts({ config, environment }: Examining, problem: string | undefined): SettingsFacts {
  const read = readStartConfig(environment);
  const risks = productionRisks(config).filter(({ isRefused }) => !isRefused);
  return {
    changed: describeChanges(config),
    refusals: ['problems' in read ? read.problems : [], problem ?? []].flat(),
    risks: [...risks.map(({ message }) => message), ...misspeltSettings(environment)],
  };
}

/**
 * The ids of the master secrets. A sandbox without a configured secret has one in its home folder: this function reads it, and
 * never creates one.
 */
async function secretIds({ config, world }: Examining): Promise<Asked<readonly string[]>> {
  const isConfigured = config.secret !== undefined || config.secretFile !== undefined;
  const hasOwn = hasOnlyPlayMoney(config) && (await isThere(join(config.home, 'secret')));
  if (!isConfigured && !hasOwn) return { unknown: 'neither TILL_SECRET nor TILL_SECRET_FILE is set' };
  return openSecrets({ config, world }).then(
    ({ ids }) => ({ known: ids }),
    (error: Error) => ({ unknown: error.message.replace(/\.$/, '') }),
  );
}

/** The path of the page with the receipt keys. No two gateways have the same keys, so the page shows which gateway answers. */
export const OWN_PAGE = '/.well-known/till-receipts.json';

/**
 * The public URL to examine. Null if PUBLIC_URL is not set: its default is an address of this machine with the port from this
 * command's settings, and a node may listen on another port.
 */
function publicUrlOf({ config, world, environment }: Examining): ExamineDeps['publicUrl'] {
  const { publicUrl } = config;
  if ((environment.PUBLIC_URL ?? '').trim() === '') return null;
  const ask = { publicUrl, path: OWN_PAGE, timeoutMs: CERTIFICATE_MS };
  return { publicUrl, ask: (isOurs) => askPage(world, { ...ask, isOurs }) };
}

/** The certificate of the public URL. None if the URL is plain http. */
export function certificateOfPages({ world }: Pick<Context, 'world'>, publicUrl: string): ExamineDeps['certificates'] {
  const { protocol, hostname: host, port } = new URL(publicUrl);
  if (protocol !== 'https:') return [];
  const ask = { host: host.replace(/^\[|\]$/g, ''), port: Number(port || HTTPS_PORT), timeoutMs: CERTIFICATE_MS };
  return [{ what: 'PUBLIC_URL', read: () => readServerCertificate(world.timers, ask) }];
}

function certificatesOfDatabase({ config, world }: Examining, url: string | undefined): ExamineDeps['certificates'] {
  const hosts = [url, config.readDatabaseUrl].flatMap((each) => (each === undefined ? [] : encryptedHosts(each)));
  return hosts.map((host) => ({
    what: `the database (${host.host}:${host.port})`,
    read: () => readDatabaseCertificate(world.timers, host, CERTIFICATE_MS),
  }));
}

/** True if the database server is on this machine. A folder in place of a host is a Unix socket of this machine. */
function isHere(url: string): boolean {
  const { hostname: host, searchParams } = new URL(url);
  return searchParams.get('host')?.startsWith('/') === true || /^(localhost|127\..*|\[::1\]|)$/.test(host);
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
