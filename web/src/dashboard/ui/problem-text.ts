import { ApiProblem } from '../api.ts';
import type { Strings } from '../strings/en.ts';

/** The message of the gateway. An error without one comes from the network. */
export function problemText(words: Strings, error: unknown): string {
  return error instanceof ApiProblem && error.message !== '' ? error.message : words.unreachable;
}
