import { Html, html } from '../reference/html.ts';
import type { PageAssets, PageBundle } from './page-bundle.ts';

interface ScriptlessPage {
  readonly language: { readonly locale: string; readonly dir: 'ltr' | 'rtl' };
  readonly rendered: { readonly html: string; readonly title: string };
  /** The sheets beside those of the checkout. */
  readonly assets: PageAssets;
}

/** The whole document of a page in the look of the checkout that has no script. */
export function renderScriptless(bundle: PageBundle, { language, rendered, assets }: ScriptlessPage): string {
  return html`<!doctype html>
<html lang="${language.locale}" dir="${language.dir}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<title>${rendered.title}</title>
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no">
${bundle.files.has('icons/till.svg') && html`<link rel="icon" href="/icons/till.svg" type="image/svg+xml">`}
${[...bundle.styles, ...assets.styles].map((path) => html`<link rel="stylesheet" href="${path}">`)}
${bundle.font !== undefined && html`<link rel="preload" href="${bundle.font}" as="font" type="font/woff2" crossorigin>`}
</head>
<body>
<div id="root">${new Html(rendered.html)}</div>
</body>
</html>
`.markup;
}
