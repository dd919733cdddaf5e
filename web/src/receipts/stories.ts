import type { Amount } from '../shared/money.ts';
import type { PaperSize, ReceiptPage } from './page-state.ts';

/** A receipt for pictures and tests. */
export interface ReceiptStory {
  readonly name: string;
  readonly state: ReceiptPage;
  /** The paper size of its PDF picture. */
  readonly paper: PaperSize;
}

const ID = '06DRVX4NT50CZ7K9M2Q8R1W3E5';
const SECRET = 'q83vEjRWeJq83u8SNFZ4mg';
const ORIGIN = 'https://till.example.com';

function euros(value: string): Amount {
  return { unit: 'iso4217/EUR', value, display: { assetSymbol: 'EUR', assetName: 'Euro', decimals: 2 } };
}

function usdc(value: string): Amount {
  const unit = 'caip19/eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
  return { unit, value, display: { assetSymbol: 'USDC', assetName: 'USD Coin', decimals: 6, networkName: 'Base' } };
}

function transaction(digits: string) {
  const txId = `0x${digits.repeat(32)}`;
  return { txId, explorerUrl: `https://basescan.org/tx/${txId}` };
}

const PAID: ReceiptPage = {
  kind: 'receipt',
  locale: 'en',
  dir: 'ltr',
  isTest: false,
  hidesPoweredBy: false,
  merchant: { name: 'Kaffeehaus Morgenrot', iconUrl: null },
  number: ID,
  paidAt: '2026-11-16T09:41:00.000Z',
  referenceId: 'ORDER-1042',
  description: null,
  lineItems: [
    { name: 'Ethiopia Guji, 250 g', quantity: 2, amount: euros('2980') },
    { name: 'Filter papers', quantity: null, amount: euros('490') },
    { name: 'Tip', quantity: null, amount: euros('300') },
  ],
  price: euros('3770'),
  paid: usdc('41092000'),
  account: 'eip155:8453:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  transactions: [transaction('3f')],
  refunds: [],
  lateMoney: [],
  proof: {
    receiptUrl: `${ORIGIN}/c/${ID}/${SECRET}/receipt.json`,
    keysUrl: `${ORIGIN}/.well-known/till-receipts.json`,
    scriptUrl: `${ORIGIN}/verify-receipt.mjs`,
  },
  url: `${ORIGIN}/c/${ID}/${SECRET}/receipt`,
  checkoutUrl: `${ORIGIN}/c/${ID}`,
};

export const RECEIPT_STORIES: readonly ReceiptStory[] = [
  { name: 'receipt', state: PAID, paper: 'a4' },
  {
    name: 'receipt-refunded-japanese',
    paper: 'roll',
    state: {
      ...PAID,
      locale: 'ja',
      isTest: true,
      merchant: { name: '喫茶さくら', iconUrl: null },
      lineItems: [
        { name: '抹茶ラテ、アイス', quantity: 2, amount: euros('1180') },
        { name: 'どら焼き', quantity: 3, amount: euros('2590') },
      ],
      transactions: [transaction('3f'), transaction('4a')],
      lateMoney: [{ reason: 'overpaid', status: 'unclaimed', amount: usdc('5000000') }],
      refunds: [{ ...transaction('c2'), price: euros('590'), at: '2026-11-17T12:05:00.000Z' }],
    },
  },
  {
    name: 'receipt-arabic',
    paper: 'a4',
    state: {
      ...PAID,
      locale: 'ar',
      dir: 'rtl',
      merchant: { name: 'مقهى الأمل (فرع 2)', iconUrl: null },
      lineItems: [
        { name: 'قهوة عربية', quantity: 2, amount: euros('1180') },
        { name: 'كعكة (صغيرة) 3 قطع', quantity: null, amount: euros('2590') },
      ],
      proof: null,
    },
  },
];
