import { hostUrls } from '../domain/database-hosts.ts';
import type { Config } from './config.ts';
import { intermediatesIn, relayersIn } from './contradictions.ts';
import { isAddress, secretsOfUrl } from './network-kinds.ts';

/** All secret values of the configuration, which the log masks. */
export function secretValues(config: Config): string[] {
  const endpoints = [...(config.rpcUrls?.values() ?? []), config.externalSignerUrl ?? []].flat();
  const sources = (config.rateSources ?? []).flatMap(({ requests }) => requests.map(({ url }) => url));
  const keys = [...relayersIn(config), ...intermediatesIn(config)].filter((relayer) => !isAddress(relayer));
  return [
    ...databaseUrls(config).flatMap(secretsOfDatabaseUrl),
    ...[...endpoints, ...sources, config.smtp?.url ?? [], config.otlpEndpoint ?? []].flat().flatMap(secretsOfUrl),
    ...Object.values(config.otlpHeaders ?? {}),
    ...keys.flatMap((key) => [key, key.slice(2)]),
    ...(config.secret ?? []).flatMap(spellingsOfSecret),
  ];
}

function databaseUrls(config: Config): string[] {
  const urls = [config.databaseUrl, config.databaseDirectUrl, config.databaseMigrateUrl, config.readDatabaseUrl];
  return urls.filter((url) => url !== undefined);
}

function spellingsOfSecret(bytes: Uint8Array): string[] {
  const base64 = Buffer.from(bytes).toString('base64');
  return [base64.replaceAll('=', ''), Buffer.from(bytes).toString('base64url')];
}

function secretsOfDatabaseUrl(url: string): string[] {
  return [url, ...hostUrls(url).flatMap((each) => [each, decodeURIComponent(new URL(each).password)])];
}
