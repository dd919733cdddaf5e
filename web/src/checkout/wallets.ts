import { clamp } from '../shared/text.ts';

/** A wallet as shown on the page. Name and icon come from the wallet and are untrusted. */
export interface WalletCard {
  /** Unique among the wallets of this visit. */
  readonly id: string;
  /** The wallet's stable identifier, such as a reversed domain name. It is stored to recognise the last used wallet. */
  readonly key: string;
  readonly name: string;
  /** A `data:` image, or null. */
  readonly icon: string | null;
  readonly kind: 'announced' | 'legacy' | 'paired' | 'sandbox';
}

export interface Wallet extends WalletCard {
  readonly provider: Provider;
  /** Ends the connection. The wallet can be connected again. */
  close?(): void;
}

export function cardOf({ provider: _, close: __, ...card }: Wallet): WalletCard {
  return card;
}

/** The part of EIP-1193 that the page needs. */
export interface Provider {
  request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>;
  on?(event: string, listener: (payload: unknown) => void): unknown;
  removeListener?(event: string, listener: (payload: unknown) => void): unknown;
}

interface DiscoverInput {
  /** The window. Wallets announce themselves by events on it, and older wallets inject its property `ethereum`. */
  readonly target: EventTarget & { readonly ethereum?: unknown };
  readonly browserWalletName: string;
  readonly onFound: (wallets: readonly Wallet[]) => void;
  readonly signal: AbortSignal;
}

/** The time after which the injected property of an older wallet is checked. Newer wallets announce themselves at once. */
const LEGACY_AFTER_MS = 300;
const MAX_WALLETS = 16;
const MAX_ICON_CHARS = 200_000;

/** Finds the browser's wallets (EIP-6963), in the order of announcement. A wallet that announces itself twice is listed once. */
export function discoverWallets({ target, browserWalletName, onFound, signal }: DiscoverInput): void {
  const found = new Map<string, Wallet>();
  const report = () => onFound([...found.values()]);
  const onAnnounce = (event: Event) => {
    const wallet = readAnnouncement((event as CustomEvent<unknown>).detail);
    if (wallet === undefined || found.has(wallet.id) || found.size >= MAX_WALLETS) return;
    found.delete('legacy');
    found.set(wallet.id, wallet);
    report();
  };
  target.addEventListener('eip6963:announceProvider', onAnnounce, { signal });
  target.dispatchEvent(new Event('eip6963:requestProvider'));

  const timer = setTimeout(() => {
    const { ethereum } = target;
    if (found.size === 0 && isProvider(ethereum)) {
      const card = { id: 'legacy', key: 'legacy', name: browserWalletName, icon: null, kind: 'legacy' } as const;
      found.set('legacy', { ...card, provider: ethereum });
    }
    report();
  }, LEGACY_AFTER_MS);
  signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
}

function readAnnouncement(detail: unknown): Wallet | undefined {
  const { info, provider } = Object(detail) as { info?: unknown; provider?: unknown };
  const { uuid, name, icon, rdns } = Object(info) as Record<string, unknown>;
  if (typeof uuid !== 'string' || typeof name !== 'string' || name.trim() === '' || !isProvider(provider))
    return undefined;
  const isShowable = typeof icon === 'string' && /^data:image\//i.test(icon) && icon.length <= MAX_ICON_CHARS;
  return {
    id: uuid,
    key: typeof rdns === 'string' ? rdns : uuid,
    name: clamp(name, 40),
    icon: isShowable ? icon : null,
    kind: 'announced',
    provider,
  };
}

function isProvider(value: unknown): value is Provider {
  return typeof value === 'object' && value !== null && typeof (value as Provider).request === 'function';
}
