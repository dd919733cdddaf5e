import { renderToStaticMarkup } from 'react-dom/server';
import type { ReceiptPage, ReceiptPageState, Sheet } from './page-state.ts';
import { ReceiptView, titleOf } from './receipt-page.tsx';
import { sheetOf } from './receipt-sheet.ts';
import { wordsIn } from './receipt-words.ts';

export function renderReceipt(state: ReceiptPageState): { readonly html: string; readonly title: string } {
  const words = wordsIn(state.locale);
  return { html: renderToStaticMarkup(<ReceiptView state={state} words={words} />), title: titleOf(state, words) };
}

export function receiptSheet(state: ReceiptPage): Sheet {
  return sheetOf(state, wordsIn(state.locale));
}
