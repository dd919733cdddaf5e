import type { Amount } from '../shared/money.ts';
import { qrShape } from '../shared/qr.ts';
import type { AcceptedToken, Deposit, GatewayOption, OptionRate, WalletRpc } from './api.ts';
import { CLOSED_PHONE, firstProps } from './first-props.ts';
import type { Choice, Flow, Session, Step } from './flow-state.ts';
import { LOCALES, STRINGS } from './locale.ts';
import type { MessagePage, PaymentPage, PaymentView, RefundPage, RefundView } from './page-state.ts';
import { payUrl } from './phone-wallets.ts';
import { firstSigning } from './refund/first-signing.ts';
import type { RefundProps } from './refund/refund-app.tsx';
import { REFUND_STRINGS, type RefundStrings } from './refund/refund-strings.ts';
import type { Signing } from './refund/signing.ts';
import { en } from './strings/en.ts';
import type { PaymentProps } from './ui/app.tsx';
import { RareStep } from './ui/rare-steps.tsx';
import type { WalletCard } from './wallets.ts';

/** Every state of the page, for pictures and for the checks of all states. */
export interface Story {
  readonly name: string;
  readonly props: ReturnType<typeof firstProps> | RefundProps;
  /** The page is opened with scripts disabled. */
  readonly isScriptless?: true;
  /** The accent of the merchant, `#rrggbb`. */
  readonly accent?: string;
}

const NOW_MS = Date.UTC(2026, 10, 15, 9, 0);

const euros = (value: string): Amount => ({
  unit: 'iso4217/EUR',
  value,
  display: { assetSymbol: 'EUR', assetName: 'Euro', decimals: 2 },
});

const token = (assetSymbol: string, chain: string, networkName: string, value: string, decimals = 6): Amount => ({
  unit: `caip19/${chain}/${assetSymbol === 'ETH' ? 'slip44:60' : `erc20:0x${assetSymbol}`}`,
  value,
  display: { assetSymbol, assetName: assetSymbol, decimals, networkName },
});

const wallet = (key: string, name: string, colour: string): WalletCard => {
  const mark = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><rect width="40" height="40" fill="${colour}"/><circle cx="20" cy="20" r="9" fill="none" stroke="#fff" stroke-width="4"/></svg>`;
  return { id: key, key, name, icon: `data:image/svg+xml,${encodeURIComponent(mark)}`, kind: 'announced' };
};

const FOX = wallet('org.fox', 'Foxglove', '#d9622b');
const HARBOUR = wallet('com.harbour', 'Harbour', '#2459d6');
const SANDBOX_WALLET: WalletCard = {
  id: 'sandbox',
  key: 'sandbox',
  name: en.sandboxWallet,
  icon: null,
  kind: 'sandbox',
};

const PAIRED_WALLET: WalletCard = { id: 'paired', key: 'paired', name: en.pairedWallet, icon: null, kind: 'paired' };
const CODE_URI = `wc:${'7f6e'.repeat(16)}@2?relay-protocol=irn&symKey=${'58ab'.repeat(16)}`;
const CODE = { uri: CODE_URI, qr: qrShape(CODE_URI) };

const SESSION: Session = { wallet: FOX, account: '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed' };

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

const EURC = option(token('EURC', 'eip155:8453', 'Base', '42500000'), [BUILD], 10);
const USDC = option(token('USDC', 'eip155:8453', 'Base', '46220000'), [BUILD], 10, DOLLARS);
const USDT = option(
  token('USDT', 'eip155:137', 'Polygon', '46220000'),
  [rpc('eth_sendTransaction'), rpc('eth_signTypedData_v4')],
  24,
  DOLLARS,
);
const ETH = option(
  token('ETH', 'eip155:1', 'Ethereum', '12874000000000000', 18),
  [BUILD],
  24,
  rate('ETH', '3301.4762'),
);
const PYUSD = option(token('PYUSD', 'eip155:42161', 'Arbitrum', '46220000'), [BUILD], 5, DOLLARS);
const OPTIONS = [EURC, USDC, USDT, ETH];
const ACCEPTED: readonly AcceptedToken[] = [
  ...['Ethereum', 'Base', 'Polygon', 'Arbitrum'].map((networkName) => ({ symbol: 'USDC', networkName })),
  ...['Ethereum', 'Base'].map((networkName) => ({ symbol: 'EURC', networkName })),
  ...['Ethereum', 'Polygon'].map((networkName) => ({ symbol: 'USDT', networkName })),
  ...['Ethereum', 'Base', 'Arbitrum'].map((networkName) => ({ symbol: 'ETH', networkName })),
  { symbol: 'POL', networkName: 'Polygon' },
  { symbol: 'BNB', networkName: 'BNB Smart Chain' },
];

const choice = (chosen: GatewayOption, options = OPTIONS): Choice => ({ session: SESSION, options, option: chosen });

const PAYMENT: PaymentView = {
  status: 'requires_action',
  isFinal: false,
  amount: euros('4250'),
  expiresAt: NOW_MS / 1000 + 272,
  merchant: { name: 'Kaffeehaus Lindqvist', iconUrl: null },
  buyer: null,
  transaction: null,
  info: null,
};

const PAGE: PaymentPage = {
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
  sandbox: null,
  pairing: null,
  embedder: false,
  locale: 'en',
  dir: 'ltr',
  strings: en,
};

const SHOP = { successUrl: 'https://shop.example.com/thanks', errorUrl: 'https://shop.example.com/basket' };
const SANDBOX = { rpcPath: '/sandbox/rpc', chainId: 'eip155:31337', blockViewPath: '/sandbox/tx' };

interface Telling extends Partial<Omit<PaymentProps, 'page' | 'flow'>> {
  readonly page?: Partial<PaymentPage>;
  readonly payment?: Partial<PaymentView>;
  readonly flow?: Partial<Flow>;
  readonly isScriptless?: true;
}

function tell(name: string, step: Step | null, telling: Telling = {}): Story {
  const { page: pageChange, payment, flow, isScriptless, ...rest } = telling;
  const page: PaymentPage = { ...PAGE, ...pageChange, payment: { ...PAYMENT, ...payment } };
  const first = { ...(firstProps(page) as PaymentProps), rareSteps: { RareStep } };
  const wallets = isScriptless || step === null ? null : [FOX, HARBOUR];
  const told = { ...first.flow, wallets, ...(step !== null && { step }), ...flow };
  return { name, props: { ...first, ...rest, flow: told }, ...(isScriptless && { isScriptless }) };
}

const REFUND: RefundView = {
  refundId: 'rfnd_16DRVX4NT50CZ7K9M2Q8R1W3E5',
  status: 'awaiting_funds',
  amount: token('USDC', 'eip155:8453', 'Base', '42500000'),
  fee: null,
  isFeeReturned: false,
  destination: `eip155:8453:${SESSION.account}`,
  account: 'eip155:8453:0xfb6916095ca1df60bb79ce92ce3ea74c37c5d359',
  merchant: PAYMENT.merchant,
  waitingFor: 'merchant_signature',
  transaction: null,
  attempt: null,
};

interface RefundTelling {
  readonly refund?: Partial<RefundView>;
  readonly state?: Partial<Signing>;
  readonly page?: Partial<RefundPage>;
  readonly isScriptless?: true;
}

/** The page on which a merchant signs for a refund. */
function tellRefund(name: string, { refund, state, page: change, isScriptless }: RefundTelling = {}): Story {
  const language = { locale: 'en', dir: 'ltr', strings: en, refundStrings: refundWords('en') } as const;
  const shown = { ...REFUND, ...refund };
  const page: RefundPage = {
    kind: 'refund',
    code: shown.refundId,
    appId: PAGE.appId,
    sandbox: null,
    ...language,
    ...change,
    refund: shown,
  };
  const first = firstSigning(page);
  const wallets = isScriptless ? null : [FOX, HARBOUR];
  const props = { ...first, state: { ...first.state, wallets, ...state } };
  return { name, props, ...(isScriptless && { isScriptless }) };
}

function refundWords(locale: string): RefundStrings {
  return REFUND_STRINGS[locale] ?? (REFUND_STRINGS.en as RefundStrings);
}

function message(kind: 'not_found' | 'unavailable'): Story {
  const page: MessagePage = { kind, locale: 'en', dir: 'ltr', strings: en };
  return { name: kind.replace('_', '-'), props: firstProps(page) };
}

const inLanguage = (locale: string) => ({ locale, dir: LOCALES[locale]?.dir ?? 'ltr', strings: STRINGS[locale] ?? en });
const READY: Step = { at: 'ready' };
const ended = (status: PaymentView['status']) => ({ status, isFinal: true });
const PAID_INFO = { optionAmount: EURC.amount, txId: `0x${'a3f1'.repeat(16)}`, explorerUrl: '/tx/eip155:8453/0xa3f1' };
const BUYER = { accountCaip10: `eip155:8453:${SESSION.account}`, accountProviderName: 'Till Checkout' };
const OPEN_PHONE = { ...CLOSED_PHONE, isOpen: true, qr: qrShape(payUrl(PAGE)) };
const NASTY = `<script>alert(1)</script> \u202Eevil ${'👩‍👩‍👧‍👦'.repeat(256)}`;
const OTHER_NETWORKS = (
  [
    ['Ethereum', 'eip155:1'],
    ['Base', 'eip155:8453'],
    ['Polygon', 'eip155:137'],
    ['Arbitrum', 'eip155:42161'],
    ['Optimism', 'eip155:10'],
    ['BNB Smart Chain', 'eip155:56'],
  ] as const
).map(([name, chain]) => token('USDC', chain, name, '46220000'));
const HOSTILE = { merchant: { name: NASTY, iconUrl: null } };
const BRANDED = {
  payment: { merchant: { ...PAYMENT.merchant, iconUrl: FOX.icon } },
  page: { strings: { ...en, poweredBy: '' } },
};
const ORDER = {
  description: 'Saturday tasting for two, 21 November, 10 am',
  lineItems: [
    { name: 'Tasting menu', quantity: 2, amount: euros('3600') },
    { name: 'Bag of beans, 250 g', quantity: 1, amount: euros('650') },
  ],
};
const LONG_ORDER = {
  lineItems: [
    ...ORDER.lineItems,
    ...['Filter papers', 'Stoneware mug', 'Oat milk', 'Cantuccini', 'Pour-over kettle, 0.9 litres, matt black'].map(
      (name, index) => ({ name, quantity: index + 1 }),
    ),
  ],
};
const ADDRESS = '0x27b1fdb04752Bbc536007A920D24ACB045561c26';
const sent = (arrived: number, confirmed = 0): Deposit => ({
  address: `eip155:8453:${ADDRESS}`,
  amount: EURC.amount,
  uri: `ethereum:0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42@8453/transfer?address=${ADDRESS}&uint256=${42_500_000 - arrived}`,
  expiresAt: PAYMENT.expiresAt,
  confirmations: 5,
  arrived: { ...EURC.amount, value: String(arrived) },
  confirmed,
});
const transfer = (deposit: Deposit | null): Step => ({ at: 'transfer', asset: EURC.amount.unit.slice(7), deposit });
const UNDER_WAY: Step = { at: 'confirming', choice: choice(EURC), txId: null, isDelivered: true };
const ELSEWHERE: Step = { at: 'confirming', choice: null, txId: null, isDelivered: true };
const SENT: Step = { at: 'confirming', choice: choice(ETH), txId: `0x${'7c20'.repeat(16)}`, isDelivered: true };
const held = (refusal: string) => ({
  status: 'processing' as const,
  buyer: BUYER,
  attempt: { refusal, triesUntil: NOW_MS / 1000 + 518 },
});

export const STORIES: readonly Story[] = [
  tell('loading', null),
  tell('ready', READY, { phone: { ...CLOSED_PHONE, lastWallet: FOX.key } }),
  tell('ready-phone', READY, { phone: OPEN_PHONE }),
  tell('ready-order', READY, { page: ORDER }),
  tell('ready-long-order', READY, { page: LONG_ORDER }),
  tell('ready-lapsed', READY, { flow: { notice: 'lapsed' } }),
  tell('ready-no-wallet', READY, { flow: { wallets: [] }, phone: OPEN_PHONE }),
  tell('ready-sandbox', READY, { page: { sandbox: SANDBOX }, flow: { wallets: [FOX, SANDBOX_WALLET] } }),
  tell('ready-rejected', READY, { flow: { notice: 'rejected' } }),
  tell('ready-last-minute', READY, { payment: { expiresAt: NOW_MS / 1000 + 42 } }),
  tell('connecting', { at: 'connecting', wallet: FOX, isSlow: false, code: null }),
  tell('connecting-slow', { at: 'connecting', wallet: FOX, isSlow: true, code: null }),
  tell('ready-pairing', READY, { flow: { wallets: [FOX, PAIRED_WALLET] } }),
  tell('pairing', { at: 'connecting', wallet: PAIRED_WALLET, isSlow: false, code: CODE }),
  tell('pairing-preparing', { at: 'connecting', wallet: PAIRED_WALLET, isSlow: false, code: null }),
  tell('pairing-relay-away', READY, { flow: { wallets: [FOX, PAIRED_WALLET], notice: 'relayAway' } }),
  tell('checking-balances', { at: 'loading', session: SESSION }),
  tell('choosing', { at: 'choosing', ...choice(EURC) }),
  tell('choosing-one', { at: 'choosing', ...choice(USDC, [USDC]) }),
  tell('choosing-many', { at: 'choosing', ...choice(USDC, [EURC, USDC, PYUSD, USDT, ETH]) }),
  tell('choosing-lapsed', { at: 'choosing', ...choice(EURC) }, { flow: { notice: 'lapsed' } }),
  tell('choosing-new-price', { at: 'choosing', ...choice(ETH) }, { flow: { notice: 'quoteExpired' } }),
  tell('choosing-wrong-chain', { at: 'choosing', ...choice(USDT) }, { flow: { notice: 'wrongChain' } }),
  tell('no-funds', { at: 'no_funds', session: SESSION, accepted: ACCEPTED, stopped: undefined }),
  tell('no-funds-few', { at: 'no_funds', session: SESSION, accepted: ACCEPTED.slice(0, 6), stopped: undefined }),
  tell('no-funds-unknown', { at: 'no_funds', session: SESSION, accepted: null, stopped: undefined }),
  tell('nothing-offered', { at: 'no_funds', session: SESSION, accepted: [], stopped: undefined }),
  tell('sold-out', { at: 'no_funds', session: SESSION, accepted: [], stopped: { reason: 'sold_out' } }),
  tell('refused', { at: 'refused', session: SESSION }),
  tell('setup', { at: 'setup', ...choice(USDT), cost: '0.0021 POL' }),
  tell('setup-approve', { at: 'asking', ask: 'approve', isSlow: false, ...choice(USDT) }),
  tell('setup-mining', { at: 'mining', txId: '0xa3f1', ...choice(USDT) }),
  tell('switch-network', { at: 'asking', ask: 'switch', isSlow: false, ...choice(USDT) }),
  tell('preparing', { at: 'preparing', ...choice(EURC) }),
  tell('signing', { at: 'asking', ask: 'sign', isSlow: false, ...choice(EURC) }),
  tell('sending-slow', { at: 'asking', ask: 'send', isSlow: true, ...choice(ETH) }),
  tell('picking', { at: 'picking' }),
  tell('picking-many', { at: 'picking' }, { page: { sendable: OTHER_NETWORKS } }),
  tell('picking-refused', { at: 'picking' }, { flow: { notice: 'addressFailed' } }),
  tell('transfer', transfer(sent(0))),
  tell('transfer-long', transfer({ ...sent(0), expiresAt: NOW_MS / 1000 + 86_400 }), {
    payment: { expiresAt: NOW_MS / 1000 + 86_400 },
  }),
  tell('transfer-loading', transfer(null)),
  tell('transfer-part', transfer(sent(20_000_000))),
  tell(
    'transfer-seen',
    { ...ELSEWHERE, deposit: sent(42_500_000, 3) },
    { payment: { status: 'processing', buyer: BUYER } },
  ),
  tell('delivering', { at: 'confirming', choice: choice(EURC), txId: null, isDelivered: false }),
  tell('confirming', UNDER_WAY, { payment: { status: 'processing', transaction: PAID_INFO, buyer: BUYER } }),
  tell('confirming-unseen', SENT),
  tell('confirming-elsewhere', ELSEWHERE, { payment: { status: 'processing', buyer: BUYER } }),
  tell('looking', ELSEWHERE, { payment: { status: 'processing', expiresAt: NOW_MS / 1000 - 40 } }),
  tell('waiting-balance', UNDER_WAY, { payment: held('short_balance') }),
  tell('waiting-paused', UNDER_WAY, { payment: { ...held('paused'), transaction: PAID_INFO } }),
  tell('paid', null, { payment: { ...ended('succeeded'), info: PAID_INFO, buyer: BUYER } }),
  tell('paid-mail', null, {
    payment: { ...ended('succeeded'), info: PAID_INFO, buyer: BUYER },
    page: { mailsReceipts: true },
  }),
  tell('paid-copied', null, {
    payment: { ...ended('succeeded'), info: PAID_INFO, buyer: BUYER },
    copied: PAID_INFO.txId,
  }),
  tell('paid-late-money', null, {
    payment: {
      ...ended('succeeded'),
      info: PAID_INFO,
      buyer: BUYER,
      lateMoney: [{ reason: 'overpaid', status: 'returned', amount: EURC.amount }],
    },
  }),
  tell('paid-returning', null, {
    payment: { ...ended('succeeded'), info: PAID_INFO, buyer: BUYER },
    page: { checkout: SHOP },
    secondsToReturn: 3,
  }),
  tell('failed', null, { payment: ended('failed'), page: { checkout: SHOP }, secondsToReturn: 3 }),
  tell('declined', null, { payment: { ...ended('failed'), failureCode: 'declined_user' } }),
  tell('failed-alone', null, { payment: ended('failed') }),
  tell('expired', null, { payment: ended('expired'), page: { checkout: SHOP } }),
  tell('expired-alone', null, { payment: ended('expired') }),
  tell('expired-late-money', null, {
    payment: { ...ended('expired'), lateMoney: [{ reason: 'underpaid', status: 'unclaimed', amount: EURC.amount }] },
  }),
  tell('cancelled', null, { payment: ended('cancelled') }),
  tell('offline', { at: 'choosing', ...choice(EURC) }, { flow: { connection: 'offline' } }),
  tell('gateway-away', READY, { flow: { connection: 'away' } }),
  message('not_found'),
  message('unavailable'),
  tell('hostile-merchant', READY, {
    payment: HOSTILE,
    page: {
      referenceId: '"><img src=x onerror=alert(1)>',
      description: NASTY,
      lineItems: [{ name: NASTY, quantity: 1_000_000, amount: euros('9'.repeat(24)) }],
    },
  }),
  { ...tell('branded', { at: 'choosing', ...choice(EURC) }, BRANDED), accent: '#635bff' },
  { ...tell('branded-bright', { at: 'choosing', ...choice(EURC) }, BRANDED), accent: '#d9691a' },
  tell('no-script', null, { isScriptless: true }),
  tell('no-script-processing', null, { payment: { status: 'processing', transaction: PAID_INFO }, isScriptless: true }),
  tell('no-script-looking', null, {
    payment: { status: 'processing', expiresAt: NOW_MS / 1000 - 40 },
    isScriptless: true,
  }),
  tell('arabic', { at: 'choosing', ...choice(EURC) }, { page: inLanguage('ar') }),
  tell('arabic-phone', READY, { page: inLanguage('ar'), phone: OPEN_PHONE }),
  tell('arabic-paid', null, {
    page: { ...inLanguage('ar'), ...ORDER },
    payment: { ...ended('succeeded'), info: PAID_INFO, buyer: BUYER },
  }),
  tell('arabic-transfer', transfer(sent(20_000_000)), { page: inLanguage('ar') }),
  tell('german-transfer', transfer(sent(0)), { page: inLanguage('de') }),
  tell('arabic-waiting', UNDER_WAY, { page: inLanguage('ar'), payment: held('short_balance') }),
  tell('german', { at: 'setup', ...choice(USDT), cost: '0,0021 POL' }, { page: inLanguage('de') }),
  tell('japanese', { at: 'choosing', ...choice(EURC) }, { page: inLanguage('ja') }),
  tell('french', { at: 'choosing', ...choice(EURC) }, { page: inLanguage('fr') }),
  tellRefund('refund'),
  tellRefund('refund-fee', { refund: { fee: token('USDC', 'eip155:8453', 'Base', '425000') } }),
  tellRefund('refund-other-account', {
    state: { notice: { is: 'otherAccount', account: '0x2d8b5f4c1c9e1e0f3d9a6f6b1a2b3c4d5e6f7a8b' } },
  }),
  tellRefund('refund-signing', { state: { step: { at: 'asking', ask: 'sign', wallet: FOX, isSlow: false } } }),
  tellRefund('refund-sending', { refund: { status: 'sending', waitingFor: 'network' } }),
  tellRefund('refund-done', { refund: { status: 'refunded', waitingFor: null, transaction: PAID_INFO } }),
  tellRefund('refund-stopped', { refund: { waitingFor: 'unfreeze' } }),
  tellRefund('refund-no-script', { isScriptless: true }),
  { ...tellRefund('refund-branded', { refund: BRANDED.payment, page: BRANDED.page }), accent: '#0f7b6c' },
  tellRefund('refund-arabic', { page: { ...inLanguage('ar'), refundStrings: refundWords('ar') } }),
];
