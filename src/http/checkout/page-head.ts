import { type Content, type Html, html } from '../reference/html.ts';
import type { PageAssets, PageBundle } from './page-bundle.ts';

interface PageHead {
  readonly title: string;
  readonly assets: PageAssets;
  /** The stylesheet of the merchant's colours, loaded after all others. */
  readonly brandSheet?: string | undefined;
  /** Elements that only this document has. */
  readonly more?: Content;
}

const FAVICON = 'icons/till.svg';

/** The head of all documents for payers and for signed-in people. */
export function pageHead({ files }: Pick<PageBundle, 'files'>, { title, assets, brandSheet, more }: PageHead): Html {
  const styles = [...assets.styles, ...(brandSheet === undefined ? [] : [brandSheet])];
  return html`<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<title>${title}</title>
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no">
${files.has(FAVICON) && html`<link rel="icon" href="/${FAVICON}" type="image/svg+xml">`}
${styles.map((path) => html`<link rel="stylesheet" href="${path}">`)}
${assets.font !== undefined && html`<link rel="preload" href="${assets.font}" as="font" type="font/woff2" crossorigin>`}
${assets.preloads.map((path) => html`<link rel="modulepreload" href="${path}">`)}
${assets.scripts.map((path) => html`<script type="module" src="${path}"></script>`)}
${more}
</head>`;
}
