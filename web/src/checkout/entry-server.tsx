import { renderToString } from 'react-dom/server';
import { firstProps } from './first-props.ts';
import type { PageState } from './page-state.ts';
import { firstSigning } from './refund/first-signing.ts';
import { RefundApp } from './refund/refund-app.tsx';
import { App } from './ui/app.tsx';

// biome-ignore lint/performance/noBarrelFile: the server's one door to the built page
export { LOCALES, pickLocale, STRINGS } from './locale.ts';
export { REFUND_STRINGS } from './refund/refund-strings.ts';

/** The markup of the root element, identical to the browser's first render. */
export function render(page: PageState): { readonly html: string } {
  const root = page.kind === 'refund' ? <RefundApp {...firstSigning(page)} /> : <App {...firstProps(page)} />;
  return { html: renderToString(root) };
}
