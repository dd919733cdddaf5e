import { Html, html } from '../reference/html.ts';
import type { PageAssets, PageBundle } from './page-bundle.ts';
import { pageHead } from './page-head.ts';

interface ScriptlessPage {
  readonly language: { readonly locale: string; readonly dir: 'ltr' | 'rtl' };
  readonly rendered: { readonly html: string; readonly title: string };
  /** The page's own assets. Its stylesheets are loaded after those of the checkout. */
  readonly assets: PageAssets;
  readonly brandSheet: string | undefined;
}

/** The whole document of a page without script, in the design of the checkout. */
export function renderScriptless(bundle: PageBundle, page: ScriptlessPage): string {
  const { language, rendered, brandSheet } = page;
  const assets = { ...page.assets, styles: [...bundle.styles, ...page.assets.styles] };
  return html`<!doctype html>
<html lang="${language.locale}" dir="${language.dir}">
${pageHead(bundle, { title: rendered.title, assets, brandSheet })}
<body>
<div id="root">${new Html(rendered.html)}</div>
</body>
</html>
`.markup;
}
