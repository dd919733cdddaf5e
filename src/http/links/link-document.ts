import type { LinkPageState } from '../../../web/src/links/page-state.ts';
import type { PageBundle } from '../checkout/page-bundle.ts';
import { pageHead } from '../checkout/page-head.ts';
import { Html, html } from '../reference/html.ts';

/** The whole document. It has the sheets of the checkout, and no script. */
export function renderLinkDocument(bundle: PageBundle, state: LinkPageState, brandSheet: string | undefined): string {
  const { html: markup, title } = bundle.renderer.renderLink(state);
  const assets = { ...bundle.links, styles: [...bundle.styles, ...bundle.links.styles] };
  return html`<!doctype html>
<html lang="${state.locale}" dir="${state.dir}">
${pageHead(bundle, { title, assets, brandSheet })}
<body>
<div id="root">${new Html(markup)}</div>
</body>
</html>
`.markup;
}
