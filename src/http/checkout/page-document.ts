import type { PageState } from '../../../web/src/checkout/page-state.ts';
import { Html, html } from '../reference/html.ts';
import type { PageBundle } from './page-bundle.ts';
import { pageHead } from './page-head.ts';

/** Seconds after which a page without JavaScript reloads. */
const REFRESH_S = 5;

/** The whole document: the rendered page, and the initial state of its script. */
export function renderDocument(bundle: PageBundle, state: PageState, brandSheet: string | undefined): string {
  const isOpen =
    state.kind === 'unavailable' ||
    (state.kind === 'payment' && !state.payment.isFinal) ||
    (state.kind === 'refund' && state.refund.status !== 'refunded' && state.refund.status !== 'failed');
  const { html: markup } = bundle.renderer.render(state);
  const more = isOpen && html`<noscript><meta http-equiv="refresh" content="${REFRESH_S}"></noscript>`;
  return html`<!doctype html>
<html lang="${state.locale}" dir="${state.dir}">
${pageHead(bundle, { title: titleOf(state), assets: bundle, brandSheet, more })}
<body>
<div id="root">${new Html(markup)}</div>
<script type="application/json" id="state">${new Html(jsonInHtml(state))}</script>
</body>
</html>
`.markup;
}

function titleOf(state: PageState): string {
  const { kind, strings } = state;
  if (kind === 'refund') return named(state.refundStrings.title, state.refund.merchant);
  if (kind !== 'payment') return kind === 'not_found' ? strings.notFoundTitle : strings.unavailableTitle;
  return named(strings.payMerchant, state.payment.merchant);
}

function named(title: string, { name }: { readonly name: string }): string {
  // The replacement is a function, because `$` has a special meaning in a replacement string.
  return title.replace('{merchant}', () => name);
}

/** JSON that cannot close the surrounding script element or begin a comment in it. */
export function jsonInHtml(value: unknown): string {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
