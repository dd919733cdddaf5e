import { hostname, userInfo } from 'node:os';
import type { Origin } from '../domain/origin.ts';

/** The machine and the account that a command runs on, and the address of the remote session, if it is one. */
export function originOf(environment: Readonly<Record<string, string | undefined>>): Origin {
  const session = environment.SSH_CONNECTION?.split(' ')[0];
  return { host: hostname(), account: accountName(), ...(session !== undefined && session !== '' && { session }) };
}

/** A container may run under a number that no account has. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
