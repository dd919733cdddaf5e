import { createSecretKey, type KeyObject } from 'node:crypto';
import { SECRET_BYTES, secretText } from '../../domain/webhook-signature.ts';
import type { Secrets } from '../../runtime/secrets.ts';
import type { World } from '../../runtime/world.ts';
import type { Endpoint, StoredSecret } from '../../store/webhooks/endpoints.ts';

interface SecretDeps {
  readonly world: World;
  readonly secrets: Secrets;
}

/**
 * The purpose of a secret's encryption. It binds the secret to one endpoint: the secret cannot be decrypted in a row that somebody
 * copied to another endpoint.
 */
function purposeOf(endpointId: string): string {
  return `webhook secret ${endpointId}`;
}

/** A new secret: as text for the partner, who sees it once, and wrapped for the database. */
export function newSecret({ world, secrets }: SecretDeps, endpointId: string): { text: string; stored: StoredSecret } {
  const bytes = world.random.bytes(SECRET_BYTES);
  return { text: secretText(bytes), stored: { wrapped: secrets.wrap(purposeOf(endpointId), bytes), until: null } };
}

/** Returns the secrets that sign now, the newest first. Throws a `WrongSecretError` if one of them cannot be decrypted. */
export type SecretOpener = (endpoint: Pick<Endpoint, 'id' | 'secrets'>, now: Date) => KeyObject[];

/**
 * The maximum number of unwrapped secrets in memory. Unwrapping a secret and creating its key takes several times as long as
 * signing.
 */
const MAX_OPENED = 10_000;

export function createSecretOpener({ secrets }: Pick<SecretDeps, 'secrets'>): SecretOpener {
  const opened = new Map<string, KeyObject>();
  return (endpoint, now) =>
    inForce(endpoint, now).map(({ wrapped }) => {
      const purpose = purposeOf(endpoint.id);
      const key = `${purpose} ${wrapped}`;
      const secret = opened.get(key) ?? createSecretKey(secrets.unwrap(purpose, wrapped));
      if (opened.size >= MAX_OPENED) opened.clear();
      opened.set(key, secret);
      return secret;
    });
}

/** The secrets in force, wrapped with the newest master secret. Throws a `WrongSecretError` if one of them cannot be decrypted. */
export function rewrap(
  { secrets }: Pick<SecretDeps, 'secrets'>,
  endpoint: Pick<Endpoint, 'id' | 'secrets'>,
  now: Date,
): StoredSecret[] {
  const purpose = purposeOf(endpoint.id);
  return inForce(endpoint, now).map(({ wrapped, until }) => ({
    wrapped: secrets.wrap(purpose, secrets.unwrap(purpose, wrapped)),
    until,
  }));
}

export function inForce({ secrets }: Pick<Endpoint, 'secrets'>, now: Date): StoredSecret[] {
  return secrets.filter(({ until }) => until === null || new Date(until) > now);
}
