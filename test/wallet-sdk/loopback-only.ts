import { channel } from 'node:diagnostics_channel';

/** The hosts that this process tried to reach, and those it reached. */
export interface LoopbackOnly {
  /** Refused hosts. */
  refusedHosts(): ReadonlySet<string>;
  /** Hosts a connection was opened to, as the HTTP client itself reports them. */
  connectedHosts(): ReadonlySet<string>;
  lift(): void;
}

const CONNECTS = channel('undici:client:beforeConnect');

/**
 * Restricts this process to loopback. The wallet SDK reports every call to its vendor, and tests must not. Such
 * connections are refused before a name is resolved, and the HTTP client's own reports of its connections prove it.
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
