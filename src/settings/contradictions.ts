import { isTestNetwork } from '../chains/registry.ts';
import { SANDBOX_NETWORK } from '../sandbox/sandbox-network.ts';
import type { Config } from './config.ts';
import { isAddress, keysIn, valueOn } from './network-kinds.ts';

/** The contradictions between settings that are valid by themselves, one sentence each. */
export function contradictions(config: Config): string[] {
  const keys = [
    ['RELAYER_KEYS', keysIn(config.relayerKeys)],
    ['INTERMEDIATE_KEY', keysIn(config.intermediateKey)],
    ['OTHER_INTERMEDIATE_KEYS', keysIn(config.otherIntermediateKeys)],
  ] as const;
  const unsigned = keys.filter(([, own]) => own.some(isAddress) && config.externalSignerUrl === undefined);
  const signers = unsigned.map(
    ([env]) => `${env} has addresses, and EXTERNAL_SIGNER_URL, which would sign for them, is not set`,
  );
  const secrets =
    config.secret !== undefined && config.secretFile !== undefined
      ? ['TILL_SECRET and TILL_SECRET_FILE are both set']
      : [];
  const furtherUrls = {
    DATABASE_MIGRATE_URL: config.databaseMigrateUrl,
    DATABASE_DIRECT_URL: config.databaseDirectUrl,
    READ_DATABASE_URL: config.readDatabaseUrl,
  };
  const databases = Object.entries(furtherUrls)
    .filter(([, url]) => url !== undefined && config.databaseUrl === undefined)
    .map(([env]) => `${env} is set, and DATABASE_URL is not`);
  return [
    ...missingAccounts(config),
    ...signers,
    ...secrets,
    ...databases,
    ...mailContradictions(config),
    ...sandboxContradictions(config),
  ];
}

function mailContradictions({ smtp, mailFrom, alertEmails }: Config): string[] {
  if (smtp !== undefined) return mailFrom === undefined ? ['MAIL_FROM must be set, because SMTP_URL is set'] : [];
  return alertEmails.length > 0 ? ['ALERT_EMAILS is set, and SMTP_URL is not'] : [];
}

function sandboxContradictions({ sandbox, rpcUrls = new Map() }: Config): string[] {
  const networks = [...rpcUrls.keys()];
  const real = networks.filter((network) => network !== SANDBOX_NETWORK);
  if (sandbox === true && real.length > 0) return [`SANDBOX is 1, and RPC_URLS names ${real.join(', ')}`];
  if (sandbox === false && real.length < networks.length) return ['SANDBOX is 0, and RPC_URLS names the sandbox chain'];
  return [];
}

export function missingSettings(settings: Config): string[] {
  return [...missingNetworks(settings), ...missingSecret(settings)];
}

/**
 * The problem of a gateway without networks. It becomes a sandbox by itself only if no database is configured: a sandbox creates a
 * demo partner with an API key, which must not appear in an operator's database unasked.
 */
function missingNetworks({ sandbox, rpcUrls, databaseUrl }: Config): string[] {
  if (rpcUrls !== undefined || sandbox === true) return [];
  if (sandbox === false) return ['RPC_URLS must name the networks to take payments on, because SANDBOX is 0'];
  if (databaseUrl === undefined) return [];
  return [
    'RPC_URLS must name the networks to take payments on, because DATABASE_URL is set. ' +
      'To run a sandbox with play money and a demo partner in that database, set SANDBOX=1',
  ];
}

/**
 * The problem of a missing master secret. A gateway with play money alone creates its own. For real money the operator must choose
 * and keep the secret.
 */
function missingSecret(config: Config): string[] {
  if (hasOnlyPlayMoney(config) || config.secret !== undefined || config.secretFile !== undefined) return [];
  return [
    'TILL_SECRET or TILL_SECRET_FILE must be set, because RPC_URLS names a live network: ' +
      '`npm run till -- secret create` makes a secret',
  ];
}

/** True if no network in use is a live one. */
export function hasOnlyPlayMoney({ registry, rpcUrls = new Map() }: Config): boolean {
  return [...rpcUrls.keys()].every((network) => isTestNetwork(registry, network));
}

/**
 * The problems of networks without configured accounts. Every network needs accounts that the operator named: money must never go
 * to a default account.
 */
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
