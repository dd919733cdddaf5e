import type { RefundPage, RefundView } from '../page-state.ts';
import {
  BRANDED,
  FOX,
  HARBOUR,
  inLanguage,
  PAGE,
  PAID_INFO,
  PAYMENT,
  SESSION,
  type Story,
  token,
} from '../story-samples.ts';
import { en } from '../strings/en.ts';
import { firstSigning } from './first-signing.ts';
import { REFUND_STRINGS, type RefundStrings } from './refund-strings.ts';
import type { Signing } from './signing.ts';

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

interface RefundStoryChanges {
  readonly refund?: Partial<RefundView>;
  readonly state?: Partial<Signing>;
  readonly page?: Partial<RefundPage>;
  readonly isScriptless?: true;
}

function refundStory(name: string, { refund, state, page: change, isScriptless }: RefundStoryChanges = {}): Story {
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

export const REFUND_STORIES: readonly Story[] = [
  refundStory('refund'),
  refundStory('refund-fee', { refund: { fee: token('USDC', 'eip155:8453', 'Base', '425000') } }),
  refundStory('refund-other-account', {
    state: { notice: { is: 'otherAccount', account: '0x2d8b5f4c1c9e1e0f3d9a6f6b1a2b3c4d5e6f7a8b' } },
  }),
  refundStory('refund-signing', { state: { step: { at: 'asking', ask: 'sign', wallet: FOX, isSlow: false } } }),
  refundStory('refund-sending', { refund: { status: 'sending', waitingFor: 'network' } }),
  refundStory('refund-done', { refund: { status: 'refunded', waitingFor: null, transaction: PAID_INFO } }),
  refundStory('refund-stopped', { refund: { waitingFor: 'unfreeze' } }),
  refundStory('refund-no-script', { isScriptless: true }),
  { ...refundStory('refund-branded', { refund: BRANDED.payment, page: BRANDED.page }), accent: '#0f7b6c' },
  refundStory('refund-arabic', { page: { ...inLanguage('ar'), refundStrings: refundWords('ar') } }),
];
