import type { LinkPageState } from '../../../web/src/links/page-state.ts';
import type { PageBundle } from '../checkout/page-bundle.ts';
import { Html, html } from '../reference/html.ts';

/** The whole document. It has the sheets of the checkout, and no script. */
export function renderLinkDocument(bundle: PageBundle, state: LinkPageState): string {
  const { html: markup, title } = bundle.renderer.renderLink(state);
  return html`<!doctype html>
<html lang="${state.locale}" dir="${state.dir}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<title>${title}</title>
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no">
${bundle.files.has('icons/till.svg') && html`<link rel="icon" href="/icons/till.svg" type="image/svg+xml">`}
${[...bundle.styles, ...bundle.links.styles].map((path) => html`<link rel="stylesheet" href="${path}">`)}
${bundle.font !== undefined && html`<link rel="preload" href="${bundle.font}" as="font" type="font/woff2" crossorigin>`}
</head>
<body>
<div id="root">${new Html(markup)}</div>
</body>
</html>
`.markup;
}
