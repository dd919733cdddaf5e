import { isIP } from 'node:net';
import { isPublicAddress } from './public-address.ts';

export const MAX_URL_LENGTH = 2_048;

/** Host names that never lead to the public Internet. */
const LOCAL_NAME = /(^|\.)(localhost|local|internal|home\.arpa|localdomain|lan|intranet|private|corp|home)$/;

/**
 * The problem of a receiver's URL. Undefined if the URL is allowed. A name that resolves to a private address is refused later,
 * on connecting.
 */
export function receiverProblem(text: string, { allowsLocal }: { readonly allowsLocal: boolean }): string | undefined {
  if (text.length > MAX_URL_LENGTH) return `must not be longer than ${MAX_URL_LENGTH} characters`;
  const url = /^[^\s\p{Cc}\p{Cs}\\]+$/u.test(text) ? URL.parse(text) : null;
  if (url === null) return 'must be a URL';
  if (url.protocol !== 'https:' && !(allowsLocal && url.protocol === 'http:')) {
    return allowsLocal ? 'must be an HTTPS or HTTP URL' : 'must be an HTTPS URL';
  }
  if (url.username !== '' || url.password !== '' || /^[a-z]+:\/\/[^/?#]*@/i.test(text)) {
    return 'must not contain credentials';
  }
  if (text.includes('#')) return 'must not contain a fragment';
  if (url.href.length > MAX_URL_LENGTH) return `must not be longer than ${MAX_URL_LENGTH} characters`;
  return isAllowedHost(url.hostname, allowsLocal) ? undefined : 'must have a public host';
}

/** True if a receiver may have the address: a public address, or in the sandbox this machine's own. */
export function isAllowedReceiver(address: string, { allowsLocal }: { readonly allowsLocal: boolean }): boolean {
  return isPublicAddress(address) || (allowsLocal && isLoopback(address));
}

function isAllowedHost(hostname: string, allowsLocal: boolean): boolean {
  const literal = hostname.replace(/^\[|\]$/g, '');
  if (isIP(literal) !== 0) return isAllowedReceiver(literal, { allowsLocal });
  const name = hostname.replace(/\.$/, '').toLowerCase();
  if (allowsLocal && /(^|\.)localhost$/.test(name)) return true;
  return name.includes('.') && !LOCAL_NAME.test(name);
}

function isLoopback(address: string): boolean {
  return address === '::1' || (isIP(address) === 4 && address.startsWith('127.'));
}
