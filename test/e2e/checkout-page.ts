import type { PageAssets, PageBundle } from '../../src/http/checkout/page-bundle.ts';
import { jsonInHtml } from '../../src/http/checkout/page-document.ts';
import type { StaticFile } from '../../src/http/checkout/static-files.ts';
import type { PageState } from '../../web/src/checkout/page-state.ts';
import { REFUND_STRINGS } from '../../web/src/checkout/refund/refund-strings.ts';
import { en } from '../../web/src/checkout/strings/en.ts';
import { en as words } from '../../web/src/dashboard/strings/en.ts';
import type { LinkPageState } from '../../web/src/links/page-state.ts';
import { STRINGS as POS_STRINGS } from '../../web/src/pos/pos-words.ts';
import type { ReceiptPageState } from '../../web/src/receipts/page-state.ts';
import { sheetOf } from '../../web/src/receipts/receipt-sheet.ts';
import { wordsIn } from '../../web/src/receipts/receipt-words.ts';

/** A minimal page build, for tests of the server's part. */
export function standInPage(): PageBundle {
  return {
    renderer: {
      render: (state) => ({ html: `<main>${state.kind}</main>` }),
      renderLink: (state) => ({
        html: `<script type="application/json" id="state">${jsonInHtml(state)}</script>`,
        title: state.kind,
      }),
      renderReceipt: (state) => ({
        html: `<script type="application/json" id="state">${jsonInHtml(state)}</script>`,
        title: state.kind,
      }),
      receiptSheet: (state) => sheetOf(state, wordsIn(state.locale)),
      pickLocale: (acceptLanguage, lang) =>
        [lang, acceptLanguage?.slice(0, 2)].find((locale) => locale === 'ar' || locale === 'en') ?? 'en',
      LOCALES: { en: { dir: 'ltr' }, ar: { dir: 'rtl' } },
      STRINGS: { en, ar: en },
      REFUND_STRINGS,
    },
    styles: ['/assets/page-1.css'],
    scripts: ['/assets/page-2.js'],
    preloads: ['/assets/shared-3.js'],
    font: '/assets/inter-latin-wght-normal-4.woff2',
    links: assets('/assets/links-9.css'),
    receipts: assets('/assets/receipts-12.css'),
    site: assets('/assets/site-5.css'),
    reference: { ...assets('/assets/reference-6.css'), scripts: ['/assets/reference-7.js'] },
    pos: { ...assets('/assets/pos-10.css'), strings: POS_STRINGS, worker: 'assets/worker-11.js' },
    dashboard: { ...assets('/assets/dashboard-8.css'), strings: { en: words } },
    files: new Map([
      ['assets/page-2.js', file('text/javascript; charset=utf-8', 'let a = 1;'.repeat(200))],
      ['assets/site-5.css', file('text/css; charset=utf-8', 'body {}')],
      ['assets/reference-6.css', file('text/css; charset=utf-8', 'main {}')],
      ['assets/reference-7.js', file('text/javascript; charset=utf-8', 'let b = 2;')],
      ['assets/worker-11.js', file('text/javascript; charset=utf-8', 'let c = 3;')],
      ['icons/till.svg', file('image/svg+xml; charset=utf-8', '<svg></svg>')],
    ]),
  };
}

function assets(style: string): PageAssets {
  return { styles: [style], scripts: [], preloads: [], font: undefined };
}

function file(type: string, text: string): StaticFile {
  return { type, bytes: Buffer.from(text), hash: String(text.length), compressed: new Map() };
}

/** The state in the document, as the page's script reads it. */
export function stateIn(document: string): PageState {
  const [, json = ''] = /<script type="application\/json" id="state">(.*?)<\/script>/s.exec(document) ?? [];
  return JSON.parse(json) as PageState;
}

/** The state of the page of a payment link. */
export function linkIn(document: string) {
  const state = stateIn(document) as unknown as LinkPageState;
  if (state.kind !== 'link') throw new Error(`The page shows ${state.kind}.`);
  return state;
}

/** The state of the page of a receipt. */
export function receiptIn(document: string) {
  const state = stateIn(document) as unknown as ReceiptPageState;
  if (state.kind !== 'receipt') throw new Error(`The page shows ${state.kind}.`);
  return state;
}

/** The state of a page with a payment. */
export function paymentIn(document: string) {
  const state = stateIn(document);
  if (state.kind !== 'payment') throw new Error(`The page shows ${state.kind}.`);
  return state;
}
