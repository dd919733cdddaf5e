import { qrShape } from '../shared/qr.ts';
import type { Deposit } from './api.ts';
import { CLOSED_PHONE, firstProps } from './first-props.ts';
import type { Flow, Step } from './flow-state.ts';
import type { MessagePage, PaymentPage, PaymentView } from './page-state.ts';
import { payUrl } from './phone-wallets.ts';
import { REFUND_STORIES } from './refund/refund-stories.ts';
import {
  ACCEPTED,
  BRANDED,
  CODE,
  choice,
  ETH,
  EURC,
  euros,
  FOX,
  HARBOUR,
  inLanguage,
  NOW_MS,
  PAGE,
  PAID_INFO,
  PAIRED_WALLET,
  PAYMENT,
  PYUSD,
  SANDBOX,
  SANDBOX_WALLET,
  SESSION,
  SHOP,
  type Story,
  token,
  USDC,
  USDT,
} from './story-samples.ts';
import { en } from './strings/en.ts';
import type { PaymentProps } from './ui/app.tsx';
import { RareStep } from './ui/rare-steps.tsx';

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

function message(kind: 'not_found' | 'unavailable'): Story {
  const page: MessagePage = { kind, locale: 'en', dir: 'ltr', strings: en };
  return { name: kind.replace('_', '-'), props: firstProps(page) };
}

const READY: Step = { at: 'ready' };
const ended = (status: PaymentView['status']) => ({ status, isFinal: true });
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

/** Every state of the page, in the order of the pictures. */
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
  ...REFUND_STORIES,
];
