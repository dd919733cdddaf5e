import { ApiProblem } from '../api.ts';
import { wasCancelled } from '../passkeys.ts';
import type { Strings } from '../strings/en.ts';

/** The message of the gateway. An error without one comes from the network. */
export function problemText(words: Strings, error: unknown): string {
  return error instanceof ApiProblem && error.message !== '' ? error.message : words.unreachable;
}

/** The problem of showing or adding a passkey. */
export function passkeyProblem(words: Strings, error: unknown): string {
  if (wasCancelled(error)) return words.passkeyCancelled;
  return error instanceof ApiProblem && error.needsLink ? words.passkeyNeedsLink : words.passkeyRefused;
}
