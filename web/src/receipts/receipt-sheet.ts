import { returnTextOf } from '../../../src/domain/late-money.ts';
import { latinDigits } from '../../../src/domain/latin-digits.ts';
import { type Amount, formatAmount } from '../shared/money.ts';
import { addressOf, clamp, fill } from '../shared/text.ts';
import type { ReceiptPage, Row, Section, Sheet } from './page-state.ts';
import type { ReceiptWords } from './receipt-words.ts';

const MAX_NAME_CHARS = 120;
const MAX_DESCRIPTION_CHARS = 500;
const MAX_REFERENCE_CHARS = 80;

export function sheetOf(state: ReceiptPage, words: ReceiptWords): Sheet {
  const total = formatAmount(state.price, state);
  return {
    locale: state.locale,
    dir: state.dir,
    title: words.title,
    shop: isolated(clamp(state.merchant.name, 64)),
    warning: state.isTest ? words.testPayment : null,
    total,
    sections: [
      { title: null, rows: factsOf(state, words) },
      orderOf(state, words, total),
      paymentOf(state, words),
      ...refundsOf(state, words),
      ...lateMoneyOf(state, words),
      proofOf(state, words),
    ],
    pageNumber: words.pageNumber,
  };
}

function factsOf({ number, paidAt, referenceId, locale }: ReceiptPage, words: ReceiptWords): Row[] {
  return [
    { label: words.number, value: number, isCode: true },
    { label: words.date, value: timeText(paidAt, locale) },
    ...(referenceId === ''
      ? []
      : [{ label: words.reference, value: isolated(clamp(referenceId, MAX_REFERENCE_CHARS)) }]),
  ];
}

/** The section about the order. The tip of the point of sale is one of the items. */
function orderOf(state: ReceiptPage, words: ReceiptWords, total: string): Section {
  const description = clamp(state.description ?? '', MAX_DESCRIPTION_CHARS);
  const items = state.lineItems.map(({ name, quantity, amount }) => ({
    label: `${quantity === null || quantity === 1 ? '' : `${quantity} × `}${isolated(clamp(name, MAX_NAME_CHARS))}`,
    value: amount === null ? '' : formatAmount(amount, state),
  }));
  return {
    title: items.length === 0 ? null : words.items,
    ...(description !== '' && { text: isolated(description) }),
    rows: [...items, { label: words.total, value: total, isTotal: true }],
  };
}

function paymentOf(state: ReceiptPage, words: ReceiptWords): Section {
  const { paid, account } = state;
  const { networkName } = paid.display;
  return {
    title: words.payment,
    rows: [
      { label: words.paidWith, value: formatAmount(paid, state) },
      ...(networkName == null ? [] : [{ label: words.network, value: networkName }]),
      ...(account === null ? [] : [{ label: words.paidFrom, value: addressOf(account), isCode: true }]),
      ...state.transactions.map(({ txId, explorerUrl }) => ({
        label: words.transaction,
        value: txId,
        isCode: true,
        href: explorerUrl,
      })),
    ],
  };
}

function refundsOf(state: ReceiptPage, words: ReceiptWords): Section[] {
  const { refunds, price, locale } = state;
  if (refunds.length === 0) return [];
  const back = refunds.reduce((sum, refund) => sum + BigInt(refund.price.value), 0n);
  const left: Amount = { ...price, value: (BigInt(price.value) - back).toString() };
  const rows = refunds.flatMap(({ price: amount, at, txId, explorerUrl }): Row[] => [
    { label: timeText(at, locale), value: formatAmount(amount, state) },
    { label: words.transaction, value: txId, isCode: true, href: explorerUrl },
  ]);
  const last = { label: words.afterRefunds, value: formatAmount(left, state), isTotal: true };
  return [{ title: words.refunds, rows: [...rows, last] }];
}

/** The section about late money, which is not part of the total. */
function lateMoneyOf(state: ReceiptPage, words: ReceiptWords): Section[] {
  const { lateMoney, merchant } = state;
  if (lateMoney.length === 0) return [];
  const text = words[returnTextOf(lateMoney.map(({ status }) => status))];
  return [
    {
      title: words.lateMoney,
      text: fill(text, { merchant: isolated(clamp(merchant.name, 64)) }),
      rows: lateMoney.map(({ reason, amount }) => ({ label: words[reason], value: formatAmount(amount, state) })),
    },
  ];
}

function proofOf({ proof, url, paid }: ReceiptPage, words: ReceiptWords): Section {
  const online = { label: words.online, value: url, isCode: true, href: url };
  if (proof === null) return { title: words.verify, text: words.noProof, rows: [online] };
  const { receiptUrl, keysUrl, scriptUrl } = proof;
  return {
    title: words.verify,
    text: fill(words.verifyText, { network: paid.display.networkName ?? '' }),
    commands: [`curl -O ${scriptUrl}`, `node verify-receipt.mjs ${receiptUrl} --key ${keysUrl} --rpc <RPC-URL>`],
    rows: [online],
  };
}

/** A text of a third party, as a bidi isolate that cannot reorder the text around it. */
function isolated(text: string): string {
  return text === '' ? '' : `\u2068${text}\u2069`;
}

/** The cached formatter of each language: creating one takes longer than the rest of the page. */
const times: Record<string, Intl.DateTimeFormat> = {};

/** The date and time in UTC, because the server does not know the payer's time zone. */
function timeText(iso: string, locale: string): string {
  times[locale] ??= new Intl.DateTimeFormat(latinDigits(locale), {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone: 'UTC',
  });
  return `${times[locale].format(new Date(iso))} UTC`;
}
