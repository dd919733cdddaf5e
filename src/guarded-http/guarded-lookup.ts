import { type LookupAddress, Resolver } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';

export class ForbiddenAddressError extends Error {
  constructor() {
    super('its address is not a public one');
    this.name = 'ForbiddenAddressError';
  }
}

export type IsAllowed = (address: string) => boolean;

const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];
/**
 * The limits of a DNS look-up. Together they are shorter than the timeout of a request, so that a silent name server is reported as
 * the cause.
 */
const RESOLVER = { timeout: 2_000, tries: 2 };

/**
 * A DNS look-up that returns only allowed addresses. The connection uses the checked address: there is no second look-up that could
 * return another one (DNS rebinding).
 *
 * Names are resolved by c-ares. The look-up of the operating system blocks one of few threads, and a slow name server of a third
 * party could occupy them all.
 */
export function createGuardedLookup(isAllowed: IsAllowed): LookupFunction {
  const resolver = new Resolver(RESOLVER);
  return (hostname, options, callback) => {
    const finish = (found: readonly LookupAddress[], error: NodeJS.ErrnoException | null) => {
      const allowed = found.filter(({ address }) => isAllowed(address));
      const [first] = allowed;
      if (first !== undefined) {
        if (options.all === true) callback(null, allowed);
        else callback(null, first.address, first.family);
      } else callback(found.length > 0 || error === null ? new ForbiddenAddressError() : error, []);
    };
    if (/^(.+\.)?localhost\.?$/i.test(hostname)) return finish(LOOPBACK, null);
    resolveBoth(resolver, hostname, finish);
  };
}

/** Throws if the host is an IP address that is not allowed: Node.js connects to IP addresses without a look-up. */
export function refuseForbiddenHost({ hostname }: URL, isAllowed: IsAllowed): void {
  const literal = hostname.replace(/^\[|\]$/g, '');
  if (isIP(literal) !== 0 && !isAllowed(literal)) throw new ForbiddenAddressError();
}

function resolveBoth(
  resolver: Resolver,
  hostname: string,
  done: (found: readonly LookupAddress[], error: NodeJS.ErrnoException | null) => void,
): void {
  const found: LookupAddress[] = [];
  let problem: NodeJS.ErrnoException | null = null;
  let pending = 2;
  const collect = (family: 4 | 6) => (error: NodeJS.ErrnoException | null, addresses: readonly string[]) => {
    if (error === null) found.push(...addresses.map((address) => ({ address, family })));
    else problem = error;
    pending -= 1;
    if (pending === 0) done(found, problem);
  };
  resolver.resolve4(hostname, collect(4));
  resolver.resolve6(hostname, collect(6));
}
