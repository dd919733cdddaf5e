import { ApiProblem } from '../api.ts';
import { wasCancelled } from '../passkeys.ts';
import type { Strings } from '../strings/en.ts';

/** The text about an error: the gateway's message, or the text for an unreachable gateway if there is no message. */
export function problemText(words: Strings, error: unknown): string {
  return error instanceof ApiProblem && error.message !== '' ? error.message : words.unreachable;
}

export function passkeyProblem(words: Strings, error: unknown): string {
  if (wasCancelled(error)) return words.passkeyCancelled;
  return error instanceof ApiProblem && error.needsLink ? words.passkeyNeedsLink : words.passkeyRefused;
}
