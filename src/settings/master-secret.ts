import { readFile } from 'node:fs/promises';
import type { Registry } from '../chains/registry.ts';
import { createSecrets, type Secrets } from '../runtime/secrets.ts';
import type { World } from '../runtime/world.ts';
import { readOwnSecret } from '../sandbox/own-secret.ts';
import type { Config } from './config.ts';
import { hasOnlyPlayMoney } from './contradictions.ts';
import { masterSecrets, Problem } from './kinds.ts';

export class MasterSecretError extends Error {
  override readonly name = 'MasterSecretError';
}

/** Reads the configured master secret, from which keys are derived. A gateway with play money alone may create its own. */
export async function openSecrets({ config, world }: { config: Config; world: World }): Promise<Secrets> {
  const { secret, secretFile, home, registry } = config;
  if (secret !== undefined) return createSecrets(secret);
  if (secretFile !== undefined)
    return parsed(registry, 'the file that TILL_SECRET_FILE names', await readSecretFile(secretFile));
  if (hasOnlyPlayMoney(config))
    return parsed(registry, `the file "secret" in ${home}`, await readOwnSecret(world, home));
  throw new MasterSecretError('neither TILL_SECRET nor TILL_SECRET_FILE is set.');
}

async function readSecretFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new MasterSecretError(`the file that TILL_SECRET_FILE names cannot be read (${code}).`);
  }
}

function parsed(registry: Registry, origin: string, text: string): Secrets {
  const secrets = masterSecrets().parse(text.trim(), registry);
  if (secrets instanceof Problem) throw new MasterSecretError(`${origin} ${secrets.text}.`);
  return createSecrets(secrets);
}
