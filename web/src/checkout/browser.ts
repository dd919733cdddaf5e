import type { Sandbox } from '../shared/networks.ts';
import { createServerClock, type ServerClock } from '../shared/server-clock.ts';
import { createGateway } from './api.ts';
import { type Checkout, createCheckout } from './checkout.ts';
import type { Pairing, PaymentPage } from './page-state.ts';
import { createMemory, type Memory } from './remembered.ts';
import { WalletError } from './wallet-request.ts';
import { discoverWallets, type Provider, type Wallet } from './wallets.ts';

interface OpenCheckout {
  readonly checkout: Checkout;
  readonly clock: ServerClock;
  readonly memory: Memory;
  /** Starts the search for wallets. Returns the function that stops it. */
  discover(): () => void;
}

/** The only module that uses browser globals. The others get them as parameters. */
export function openCheckout(page: PaymentPage): OpenCheckout {
  const clock = createServerClock(page.nowMs, () => performance.now(), sinceResponseMs());
  const memory = createMemory({ local: () => window.localStorage, session: () => window.sessionStorage });
  const outside = new EventTarget();
  const fireWake = () => outside.dispatchEvent(new Event('wake'));
  window.addEventListener('online', fireWake);
  window.addEventListener('offline', () => outside.dispatchEvent(new Event('offline')));
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && fireWake());

  const checkout = createCheckout({
    page,
    gateway: createGateway({
      paymentId: page.paymentId,
      appId: page.appId,
      clientId: visitId(),
      fetch: (...request) => fetch(...request),
      onServerTime: clock.observe,
    }),
    clock,
    memory,
    isOnline: () => navigator.onLine,
    outside,
    random: Math.random,
  });

  const discover = () => {
    const controller = new AbortController();
    const own = [
      ...(page.pairing === null ? [] : [pairedWallet(page, page.pairing)]),
      ...(page.sandbox === null ? [] : [sandboxWallet(page.sandbox, page.strings.sandboxWallet)]),
    ];
    discoverWallets({
      target: window,
      browserWalletName: page.strings.browserWallet,
      onFound: (wallets) => checkout.foundWallets([...wallets, ...own]),
      signal: controller.signal,
    });
    return () => controller.abort();
  };
  return { checkout, clock, memory, discover };
}

/** True if the text was copied. The clipboard API may be refused in frames and without TLS, so there is a fallback. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const focused = document.activeElement as HTMLElement | null;
    const field = document.createElement('textarea');
    field.value = text;
    field.className = 'unseen';
    document.body.append(field);
    field.select();
    try {
      return document.execCommand('copy');
    } finally {
      field.remove();
      focused?.focus();
    }
  }
}

/** Its code is loaded after the page. */
function sandboxWallet({ rpcPath, chainId }: Sandbox, name: string): Wallet {
  const load = onDemand(async () => {
    const { createSandboxWallet } = await import('./sandbox/sandbox-wallet.ts');
    return createSandboxWallet({ rpcPath, chainId, fetch: (...request) => fetch(...request) });
  });
  void load().catch(() => {});
  return { id: 'sandbox', key: 'sandbox', name, icon: null, kind: 'sandbox', provider: later(load) };
}

/** Its code is loaded when the payer chooses it. A session ends with the page at the latest. */
function pairedWallet(page: PaymentPage, pairing: Pairing): Wallet {
  let isUsed = false;
  const load = onDemand(async () => {
    isUsed = true;
    const { createPairedWallet } = await import('./pairing/paired-wallet.ts');
    return createPairedWallet({ pairing, page, url: location.origin });
  });
  const close = () =>
    isUsed &&
    void load().then(
      (wallet) => wallet.close(),
      () => {},
    );
  window.addEventListener('pagehide', close);
  const provider = later(load);
  return { id: 'paired', key: 'paired', name: page.strings.pairedWallet, icon: null, kind: 'paired', provider, close };
}

/** Loads once. If that fails, the next use loads again. */
function onDemand<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => {
    loaded ??= load().catch(() => {
      loaded = undefined;
      throw new WalletError('relayAway');
    });
    return loaded;
  };
}

/** The provider of a wallet whose code is loaded when it is used. */
function later(load: () => Promise<Provider>): Provider {
  const use = (action: (provider: Provider) => unknown) => void load().then(action, () => {});
  return {
    request: async (call) => (await load()).request(call),
    on: (type, listener) => use((provider) => provider.on?.(type, listener)),
    removeListener: (type, listener) => use((provider) => provider.removeListener?.(type, listener)),
  };
}

/** The age of the server's first byte, the moment at which its clock was read. */
function sinceResponseMs(): number {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return navigation === undefined ? 0 : Math.max(0, performance.now() - navigation.responseStart);
}

/** Random, because it must identify the visit and nothing else. */
function visitId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
