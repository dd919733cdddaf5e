import { shortAccount } from '../shared/text.ts';

const LONG =
  /(0x[0-9a-fA-F]{64})|([-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}:0x[0-9a-fA-F]{40})|(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/g;

/**
 * Shortens the hashes and accounts in an English text of the API, and writes its times in the person's language. Each time is a bidi
 * isolate: in a right-to-left language, its parts would otherwise change places with the English words beside it.
 */
export function plainText(text: string, showTime: (time: string) => string): string {
  return text.replace(LONG, (whole, hash?: string, account?: string) => {
    if (hash !== undefined) return `${hash.slice(0, 8)}…${hash.slice(-6)}`;
    return account === undefined ? `\u2068${showTime(whole)}\u2069` : shortAccount(account);
  });
}
