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

interface StoryChanges extends Partial<Omit<PaymentProps, 'page' | 'flow'>> {
  readonly page?: Partial<PaymentPage>;
  readonly payment?: Partial<PaymentView>;
  readonly flow?: Partial<Flow>;
  readonly isScriptless?: true;
}

function story(name: string, step: Step | null, changes: StoryChanges = {}): Story {
  const { page: pageChange, payment, flow, isScriptless, ...rest } = changes;
  const page: PaymentPage = { ...PAGE, ...pageChange, payment: { ...PAYMENT, ...payment } };
  const first = { ...(firstProps(page) as PaymentProps), rareSteps: { RareStep } };
  const wallets = isScriptless || step === null ? null : [FOX, HARBOUR];
  const shown = { ...first.flow, wallets, ...(step !== null && { step }), ...flow };
  return { name, props: { ...first, ...rest, flow: shown }, ...(isScriptless && { isScriptless }) };
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
  story('loading', null),
  story('ready', READY, { phone: { ...CLOSED_PHONE, lastWallet: FOX.key } }),
  story('ready-phone', READY, { phone: OPEN_PHONE }),
  story('ready-order', READY, { page: ORDER }),
  story('ready-long-order', READY, { page: LONG_ORDER }),
  story('ready-lapsed', READY, { flow: { notice: 'lapsed' } }),
  story('ready-lapsed-part', READY, { flow: { notice: 'lapsed', paidInto: EURC.amount.unit.slice(7) } }),
  story('ready-no-wallet', READY, { flow: { wallets: [] }, phone: OPEN_PHONE }),
  story('ready-sandbox', READY, { page: { sandbox: SANDBOX }, flow: { wallets: [FOX, SANDBOX_WALLET] } }),
  story('ready-rejected', READY, { flow: { notice: 'rejected' } }),
  story('ready-last-minute', READY, { payment: { expiresAt: NOW_MS / 1000 + 42 } }),
  story('connecting', { at: 'connecting', wallet: FOX, isSlow: false, code: null }),
  story('connecting-slow', { at: 'connecting', wallet: FOX, isSlow: true, code: null }),
  story('ready-pairing', READY, { flow: { wallets: [FOX, PAIRED_WALLET] } }),
  story('pairing', { at: 'connecting', wallet: PAIRED_WALLET, isSlow: false, code: CODE }),
  story('pairing-preparing', { at: 'connecting', wallet: PAIRED_WALLET, isSlow: false, code: null }),
  story('pairing-relay-away', READY, { flow: { wallets: [FOX, PAIRED_WALLET], notice: 'relayAway' } }),
  story('checking-balances', { at: 'loading', session: SESSION }),
  story('choosing', { at: 'choosing', ...choice(EURC) }),
  story('choosing-one', { at: 'choosing', ...choice(USDC, [USDC]) }),
  story('choosing-many', { at: 'choosing', ...choice(USDC, [EURC, USDC, PYUSD, USDT, ETH]) }),
  story('choosing-lapsed', { at: 'choosing', ...choice(EURC) }, { flow: { notice: 'lapsed' } }),
  story('choosing-new-price', { at: 'choosing', ...choice(ETH) }, { flow: { notice: 'quoteExpired' } }),
  story('choosing-wrong-chain', { at: 'choosing', ...choice(USDT) }, { flow: { notice: 'wrongChain' } }),
  story('no-funds', { at: 'no_funds', session: SESSION, accepted: ACCEPTED, stopped: undefined }),
  story('no-funds-few', { at: 'no_funds', session: SESSION, accepted: ACCEPTED.slice(0, 6), stopped: undefined }),
  story('no-funds-unknown', { at: 'no_funds', session: SESSION, accepted: null, stopped: undefined }),
  story('nothing-offered', { at: 'no_funds', session: SESSION, accepted: [], stopped: undefined }),
  story('sold-out', { at: 'no_funds', session: SESSION, accepted: [], stopped: { reason: 'sold_out' } }),
  story('refused', { at: 'refused', session: SESSION }),
  story('setup', { at: 'setup', ...choice(USDT), cost: '0.0021 POL' }),
  story('setup-approve', { at: 'asking', ask: 'approve', isSlow: false, ...choice(USDT) }),
  story('setup-mining', { at: 'mining', txId: '0xa3f1', ...choice(USDT) }),
  story('switch-network', { at: 'asking', ask: 'switch', isSlow: false, ...choice(USDT) }),
  story('preparing', { at: 'preparing', ...choice(EURC) }),
  story('signing', { at: 'asking', ask: 'sign', isSlow: false, ...choice(EURC) }),
  story('sending-slow', { at: 'asking', ask: 'send', isSlow: true, ...choice(ETH) }),
  story('picking', { at: 'picking' }),
  story('picking-many', { at: 'picking' }, { page: { sendable: OTHER_NETWORKS } }),
  story('picking-refused', { at: 'picking' }, { flow: { notice: 'addressFailed' } }),
  story('transfer', transfer(sent(0))),
  story('transfer-long', transfer({ ...sent(0), expiresAt: NOW_MS / 1000 + 86_400 }), {
    payment: { expiresAt: NOW_MS / 1000 + 86_400 },
  }),
  story('transfer-loading', transfer(null)),
  story('transfer-part', transfer(sent(20_000_000))),
  story(
    'transfer-seen',
    { ...ELSEWHERE, deposit: sent(42_500_000, 3) },
    { payment: { status: 'processing', buyer: BUYER } },
  ),
  story('delivering', { at: 'confirming', choice: choice(EURC), txId: null, isDelivered: false }),
  story('confirming', UNDER_WAY, { payment: { status: 'processing', transaction: PAID_INFO, buyer: BUYER } }),
  story('confirming-unseen', SENT),
  story('confirming-elsewhere', ELSEWHERE, { payment: { status: 'processing', buyer: BUYER } }),
  story('looking', ELSEWHERE, { payment: { status: 'processing', expiresAt: NOW_MS / 1000 - 40 } }),
  story('waiting-balance', UNDER_WAY, { payment: held('short_balance') }),
  story('waiting-paused', UNDER_WAY, { payment: { ...held('paused'), transaction: PAID_INFO } }),
  story('paid', null, { payment: { ...ended('succeeded'), info: PAID_INFO, buyer: BUYER } }),
  story('paid-mail', null, {
    payment: { ...ended('succeeded'), info: PAID_INFO, buyer: BUYER },
    page: { mailsReceipts: true },
  }),
  story('paid-copied', null, {
    payment: { ...ended('succeeded'), info: PAID_INFO, buyer: BUYER },
    copied: PAID_INFO.txId,
  }),
  story('paid-late-money', null, {
    payment: {
      ...ended('succeeded'),
      info: PAID_INFO,
      buyer: BUYER,
      lateMoney: [{ reason: 'overpaid', status: 'returned', amount: EURC.amount }],
    },
  }),
  story('paid-returning', null, {
    payment: { ...ended('succeeded'), info: PAID_INFO, buyer: BUYER },
    page: { checkout: SHOP },
    secondsToReturn: 3,
  }),
  story('failed', null, { payment: ended('failed'), page: { checkout: SHOP }, secondsToReturn: 3 }),
  story('declined', null, { payment: { ...ended('failed'), failureCode: 'declined_user' } }),
  story('failed-alone', null, { payment: ended('failed') }),
  story('expired', null, { payment: ended('expired'), page: { checkout: SHOP } }),
  story('expired-alone', null, { payment: ended('expired') }),
  story('ready-late-money', READY, {
    payment: { lateMoney: [{ reason: 'wrong_token', status: 'unclaimed', amount: EURC.amount }] },
  }),
  story('expired-late-money', null, {
    payment: { ...ended('expired'), lateMoney: [{ reason: 'underpaid', status: 'unclaimed', amount: EURC.amount }] },
  }),
  story('cancelled', null, { payment: ended('cancelled') }),
  story('offline', { at: 'choosing', ...choice(EURC) }, { flow: { connection: 'offline' } }),
  story('gateway-away', READY, { flow: { connection: 'away' } }),
  message('not_found'),
  message('unavailable'),
  story('hostile-merchant', READY, {
    payment: HOSTILE,
    page: {
      referenceId: '"><img src=x onerror=alert(1)>',
      description: NASTY,
      lineItems: [{ name: NASTY, quantity: 1_000_000, amount: euros('9'.repeat(24)) }],
    },
  }),
  { ...story('branded', { at: 'choosing', ...choice(EURC) }, BRANDED), accent: '#635bff' },
  { ...story('branded-bright', { at: 'choosing', ...choice(EURC) }, BRANDED), accent: '#d9691a' },
  story('no-script', null, { isScriptless: true }),
  story('no-script-processing', null, {
    payment: { status: 'processing', transaction: PAID_INFO },
    isScriptless: true,
  }),
  story('no-script-looking', null, {
    payment: { status: 'processing', expiresAt: NOW_MS / 1000 - 40 },
    isScriptless: true,
  }),
  story('arabic', { at: 'choosing', ...choice(EURC) }, { page: inLanguage('ar') }),
  story('arabic-phone', READY, { page: inLanguage('ar'), phone: OPEN_PHONE }),
  story('arabic-paid', null, {
    page: { ...inLanguage('ar'), ...ORDER },
    payment: { ...ended('succeeded'), info: PAID_INFO, buyer: BUYER },
  }),
  story('arabic-transfer', transfer(sent(20_000_000)), { page: inLanguage('ar') }),
  story('german-transfer', transfer(sent(0)), { page: inLanguage('de') }),
  story('arabic-waiting', UNDER_WAY, { page: inLanguage('ar'), payment: held('short_balance') }),
  story('german', { at: 'setup', ...choice(USDT), cost: '0,0021 POL' }, { page: inLanguage('de') }),
  story('japanese', { at: 'choosing', ...choice(EURC) }, { page: inLanguage('ja') }),
  story('french', { at: 'choosing', ...choice(EURC) }, { page: inLanguage('fr') }),
  ...REFUND_STORIES,
];
