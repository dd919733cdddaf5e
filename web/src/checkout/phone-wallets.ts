import type { PaymentPage } from './page-state.ts';

/** The link in QR codes and for wallet apps. */
export function payUrl({ qrUrl, gatewayUrl }: Pick<PaymentPage, 'qrUrl' | 'gatewayUrl'>): string {
  return qrUrl ?? gatewayUrl;
}

/** Wallet apps that open a page in their own browser, into which they inject a wallet. The apps publish these URLs. */
export interface PhoneWallet {
  readonly name: string;
  readonly href: string;
}

export function phoneWallets(url: string): readonly PhoneWallet[] {
  const encoded = encodeURIComponent(url);
  return [
    { name: 'MetaMask', href: `https://metamask.app.link/dapp/${url.replace(/^https?:\/\//, '')}` },
    { name: 'Base', href: `https://go.cb-w.com/dapp?cb_url=${encoded}` },
    { name: 'Trust Wallet', href: `https://link.trustwallet.com/open_url?coin_id=60&url=${encoded}` },
  ];
}
