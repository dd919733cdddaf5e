import { channel } from 'node:diagnostics_channel';

/** What this process tried to reach, and what it was let through to. */
export interface LoopbackOnly {
  /** Hosts that were asked for and refused. */
  refusedHosts(): ReadonlySet<string>;
  /** Hosts a connection was opened to, as the HTTP client itself reports them. */
  connectedHosts(): ReadonlySet<string>;
  lift(): void;
}

const CONNECTS = channel('undici:client:beforeConnect');

/**
 * Keeps this process on this machine. The wallet SDK tells its vendor of every call it makes, and tests must not; what it
 * tries is refused before a name is looked up, and the client's own reports of its connections prove that it held.
 */
export function stayOnLoopback(): LoopbackOnly {
  const refused = new Set<string>();
  const connected = new Set<string>();
  const onConnect = (message: unknown) => {
    connected.add((message as { connectParams: { hostname: string } }).connectParams.hostname);
  };
  CONNECTS.subscribe(onConnect);
  const open = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const { hostname } = new URL(input instanceof Request ? input.url : input);
    if (isLoopback(hostname)) return open(input, init);
    refused.add(hostname);
    throw new TypeError('Only this machine may be reached.');
  };
  return {
    refusedHosts: () => refused,
    connectedHosts: () => connected,
    lift() {
      globalThis.fetch = open;
      CONNECTS.unsubscribe(onConnect);
    },
  };
}

export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}
