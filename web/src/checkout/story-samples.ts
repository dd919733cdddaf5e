import type { Amount } from '../shared/money.ts';
import { qrShape } from '../shared/qr.ts';
import type { AcceptedToken, GatewayOption, OptionRate, WalletRpc } from './api.ts';
import type { firstProps } from './first-props.ts';
import type { Choice, Session } from './flow-state.ts';
import { LOCALES, STRINGS } from './locale.ts';
import type { PaymentPage, PaymentView } from './page-state.ts';
import type { RefundProps } from './refund/refund-app.tsx';
import { en } from './strings/en.ts';
import type { WalletCard } from './wallets.ts';

/** A state of the page, for pictures and for the checks of all states. */
export interface Story {
  readonly name: string;
  readonly props: ReturnType<typeof firstProps> | RefundProps;
  /** True if the picture is taken with scripts disabled. */
  readonly isScriptless?: true;
  /** The merchant's accent colour, `#rrggbb`. */
  readonly accent?: string;
}

export const NOW_MS = Date.UTC(2026, 10, 15, 9, 0);

export const euros = (value: string): Amount => ({
  unit: 'iso4217/EUR',
  value,
  display: { assetSymbol: 'EUR', assetName: 'Euro', decimals: 2 },
});

export const token = (
  assetSymbol: string,
  chain: string,
  networkName: string,
  value: string,
  decimals = 6,
): Amount => ({
  unit: `caip19/${chain}/${assetSymbol === 'ETH' ? 'slip44:60' : `erc20:0x${assetSymbol}`}`,
  value,
  display: { assetSymbol, assetName: assetSymbol, decimals, networkName },
});

const wallet = (key: string, name: string, colour: string): WalletCard => {
  const mark = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><rect width="40" height="40" fill="${colour}"/><circle cx="20" cy="20" r="9" fill="none" stroke="#fff" stroke-width="4"/></svg>`;
  return { id: key, key, name, icon: `data:image/svg+xml,${encodeURIComponent(mark)}`, kind: 'announced' };
};

export const FOX = wallet('org.fox', 'Foxglove', '#d9622b');
export const HARBOUR = wallet('com.harbour', 'Harbour', '#2459d6');
export const SANDBOX_WALLET: WalletCard = {
  id: 'sandbox',
  key: 'sandbox',
  name: en.sandboxWallet,
  icon: null,
  kind: 'sandbox',
};

export const PAIRED_WALLET: WalletCard = {
  id: 'paired',
  key: 'paired',
  name: en.pairedWallet,
  icon: null,
  kind: 'paired',
};
const CODE_URI = `wc:${'7f6e'.repeat(16)}@2?relay-protocol=irn&symKey=${'58ab'.repeat(16)}`;
export const CODE = { uri: CODE_URI, qr: qrShape(CODE_URI) };

export const SESSION: Session = { wallet: FOX, account: '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed' };

const rpc = (method: string): { type: 'walletRpc'; data: WalletRpc } => ({
  type: 'walletRpc',
  data: { chain_id: 'eip155:137', method, params: [] },
});
const BUILD = { type: 'build', data: { data: '' } } as const;

const rate = (base: string, value: string): OptionRate => ({
  base,
  quote: 'EUR',
  value,
  sources: ['coinbase', 'kraken'],
});
const DOLLARS = rate('USD', '0.9197');

const option = (
  amount: Amount,
  actions: GatewayOption['actions'],
  etaS: number,
  optionRate: OptionRate | null = null,
): GatewayOption => ({
  id: `${amount.display.assetSymbol} ${amount.display.networkName}`,
  account: 'eip155:8453:0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed',
  amount,
  etaS,
  actions,
  expiresAt: null,
  rate: optionRate,
});

export const EURC = option(token('EURC', 'eip155:8453', 'Base', '42500000'), [BUILD], 10);
export const USDC = option(token('USDC', 'eip155:8453', 'Base', '46220000'), [BUILD], 10, DOLLARS);
export const USDT = option(
  token('USDT', 'eip155:137', 'Polygon', '46220000'),
  [rpc('eth_sendTransaction'), rpc('eth_signTypedData_v4')],
  24,
  DOLLARS,
);
export const ETH = option(
  token('ETH', 'eip155:1', 'Ethereum', '12874000000000000', 18),
  [BUILD],
  24,
  rate('ETH', '3301.4762'),
);
export const PYUSD = option(token('PYUSD', 'eip155:42161', 'Arbitrum', '46220000'), [BUILD], 5, DOLLARS);
const OPTIONS = [EURC, USDC, USDT, ETH];
export const ACCEPTED: readonly AcceptedToken[] = [
  ...['Ethereum', 'Base', 'Polygon', 'Arbitrum'].map((networkName) => ({ symbol: 'USDC', networkName })),
  ...['Ethereum', 'Base'].map((networkName) => ({ symbol: 'EURC', networkName })),
  ...['Ethereum', 'Polygon'].map((networkName) => ({ symbol: 'USDT', networkName })),
  ...['Ethereum', 'Base', 'Arbitrum'].map((networkName) => ({ symbol: 'ETH', networkName })),
  { symbol: 'POL', networkName: 'Polygon' },
  { symbol: 'BNB', networkName: 'BNB Smart Chain' },
];

export const choice = (chosen: GatewayOption, options = OPTIONS): Choice => ({
  session: SESSION,
  options,
  option: chosen,
});

export const PAYMENT: PaymentView = {
  status: 'requires_action',
  isFinal: false,
  amount: euros('4250'),
  expiresAt: NOW_MS / 1000 + 272,
  merchant: { name: 'Kaffeehaus Lindqvist', iconUrl: null },
  buyer: null,
  transaction: null,
  info: null,
};

export const PAGE: PaymentPage = {
  kind: 'payment',
  paymentId: 'pay_06DRVX4NT50CZ7K9M2Q8R1W3E5',
  appId: 'app_checkout',
  gatewayUrl: 'https://till.example.com/?pid=pay_06DRVX4NT50CZ7K9M2Q8R1W3E5',
  receiptUrl: 'https://till.example.com/c/06DRVX4NT50CZ7K9M2Q8R1W3E5/q83vEjRWeJq83u8SNFZ4mg/receipt',
  qrUrl: 'https://till.example.com/c/06DRVX4NT50CZ7K9M2Q8R1W3E5',
  nowMs: NOW_MS,
  payment: PAYMENT,
  checkout: null,
  referenceId: 'ORDER-20931',
  sendable: [EURC.amount, token('EURC', 'eip155:1', 'Ethereum', '42500000')],
  coins: { 'eip155:1': 'ETH', 'eip155:137': 'POL', 'eip155:8453': 'ETH' },
  sandbox: null,
  pairing: null,
  embedder: false,
  locale: 'en',
  dir: 'ltr',
  strings: en,
};

export const SHOP = { successUrl: 'https://shop.example.com/thanks', errorUrl: 'https://shop.example.com/basket' };
export const SANDBOX = { rpcPath: '/sandbox/rpc', chainId: 'eip155:31337', blockViewPath: '/sandbox/tx' };

export const inLanguage = (locale: string) => ({
  locale,
  dir: LOCALES[locale]?.dir ?? 'ltr',
  strings: STRINGS[locale] ?? en,
});
export const PAID_INFO = {
  optionAmount: EURC.amount,
  txId: `0x${'a3f1'.repeat(16)}`,
  explorerUrl: '/tx/eip155:8453/0xa3f1',
};
export const BRANDED = {
  payment: { merchant: { ...PAYMENT.merchant, iconUrl: FOX.icon } },
  page: { strings: { ...en, poweredBy: '' } },
};
