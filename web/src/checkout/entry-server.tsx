import { renderToString } from 'react-dom/server';
import { firstProps } from './first-props.ts';
import type { PageState } from './page-state.ts';
import { firstSigning } from './refund/first-signing.ts';
import { RefundApp } from './refund/refund-app.tsx';
import { App } from './ui/app.tsx';

// biome-ignore-start lint/performance/noBarrelFile: the server's one door to the built pages
export { renderLink } from '../links/render-link.tsx';
export { receiptSheet, renderReceipt } from '../receipts/render-receipt.tsx';
export { LOCALES, pickLocale, STRINGS } from './locale.ts';
export { REFUND_STRINGS } from './refund/refund-strings.ts';
// biome-ignore-end lint/performance/noBarrelFile: the server's one door to the built pages

/** The markup of the root element, identical to the browser's first render. */
export function render(page: PageState): { readonly html: string } {
  const root = page.kind === 'refund' ? <RefundApp {...firstSigning(page)} /> : <App {...firstProps(page)} />;
  return { html: renderToString(root) };
}
