import { hostname, userInfo } from 'node:os';
import type { Origin } from '../domain/origin.ts';

/** The machine and the account that run a command. In an SSH session, also the client's address. */
export function originOf(environment: Readonly<Record<string, string | undefined>>): Origin {
  const session = environment.SSH_CONNECTION?.split(' ')[0];
  return { host: hostname(), account: accountName(), ...(session !== undefined && session !== '' && { session }) };
}

/** The name of the account, or else its user id: a container may run with a user id that has no account. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
