import type { Sandbox } from '../shared/networks.ts';
import { createServerClock, type ServerClock } from '../shared/server-clock.ts';
import { createGateway } from './api.ts';
import { type Checkout, createCheckout } from './checkout.ts';
import type { PaymentPage } from './page-state.ts';
import { createMemory, type Memory } from './remembered.ts';
import type { SandboxRole } from './sandbox/key.ts';
import { discoverWallets, type Provider, type Wallet } from './wallets.ts';

interface OpenCheckout {
  readonly checkout: Checkout;
  readonly clock: ServerClock;
  readonly memory: Memory;
  /** Starts the search for wallets. Returns the function that stops it. */
  discover(): () => void;
}

/** Opens the checkout in a browser. The browser's globals, such as `fetch` and storage, are passed to the other modules as parameters. */
export function openCheckout(page: PaymentPage): OpenCheckout {
  const clock = createServerClock(page.nowMs, () => performance.now(), sinceResponseMs());
  const memory = browserMemory();
  const outside = listenOutside();

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

  let found: readonly Wallet[] | undefined;
  let paired: readonly Wallet[] = [];
  const report = () => found && checkout.foundWallets([...found, ...paired]);
  const search = discovererOf(page, 'payer', (wallets) => {
    found = wallets;
    report();
  });
  const { pairing } = page;
  const discover = () => {
    // The code for pairing is loaded only if the gateway offers pairing.
    if (pairing !== null)
      void import('./pairing/phone-wallet.ts').then(
        ({ phoneWallet }) => {
          const wallet = phoneWallet(page, pairing, { url: location.origin });
          // The session with a paired wallet ends at the latest when the payer leaves the page.
          window.addEventListener('pagehide', () => wallet.close?.());
          paired = [wallet];
          report();
        },
        () => {},
      );
    return search();
  };
  return { checkout, clock, memory, discover };
}

export function browserMemory(): Memory {
  return createMemory({ local: () => window.localStorage, session: () => window.sessionStorage });
}

/**
 * An event target that fires `offline` when the browser loses its connection, and `wake` when it is online again or the page becomes
 * visible again.
 */
export function listenOutside(): EventTarget {
  const outside = new EventTarget();
  const fireWake = () => outside.dispatchEvent(new Event('wake'));
  window.addEventListener('online', fireWake);
  window.addEventListener('offline', () => outside.dispatchEvent(new Event('offline')));
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && fireWake());
  return outside;
}

/** A function that searches for wallets, adds the sandbox's own wallet, and returns the function that stops the search. */
export function discovererOf(
  { sandbox, strings }: Pick<PaymentPage, 'sandbox' | 'strings'>,
  role: SandboxRole,
  onFound: (wallets: readonly Wallet[]) => void,
): () => () => void {
  return () => {
    const controller = new AbortController();
    const own = sandbox === null ? [] : [sandboxWallet(sandbox, role, strings.sandboxWallet)];
    discoverWallets({
      target: window,
      browserWalletName: strings.browserWallet,
      onFound: (wallets) => onFound([...wallets, ...own]),
      signal: controller.signal,
    });
    return () => controller.abort();
  };
}

/** True if the text was copied. Frames and pages without TLS may not use the clipboard API, so there is a fallback. */
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

/** The wallet of the sandbox. Its code is loaded after the page. If loading fails, the next request to the wallet loads it again. */
function sandboxWallet({ rpcPath, chainId }: Sandbox, role: SandboxRole, name: string): Wallet {
  let loaded: Promise<Provider> | undefined;
  const load = () => {
    loaded ??= import('./sandbox/sandbox-wallet.ts').then(({ createSandboxWallet }) =>
      createSandboxWallet({ rpcPath, chainId, role, fetch: (...request) => fetch(...request) }),
    );
    loaded.catch(() => {
      loaded = undefined;
    });
    return loaded;
  };
  void load();
  const provider: Provider = { request: async (call) => (await load()).request(call) };
  return { id: 'sandbox', key: 'sandbox', name, icon: null, kind: 'sandbox', provider };
}

/** The time since the first byte of the document arrived. The server read its clock for the document just before. */
function sinceResponseMs(): number {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return navigation === undefined ? 0 : Math.max(0, performance.now() - navigation.responseStart);
}

/** A random id of this visit. It identifies neither the payer nor the browser. */
export function visitId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
