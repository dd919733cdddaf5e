import type { PageAssets } from '../checkout/page-bundle.ts';
import { type Content, type Html, html } from '../reference/html.ts';

/** A document of the gateway other than the checkout and the API reference. */
export interface SitePage {
  readonly title: string;
  readonly body: Content;
  readonly of: 'gateway' | 'shop';
  /** The entry of the navigation to highlight. */
  readonly at?: string;
  /** The page reloads itself after this many seconds. */
  readonly refreshS?: number | undefined;
}

export interface SiteFrame {
  /** Stylesheets and fonts. Undefined if the pages were not built: then the page has no styles. */
  readonly assets: PageAssets | undefined;
  readonly isSandbox: boolean;
}

const SANDBOX_LINKS = [
  { href: '/demo', name: 'Shop' },
  { href: '/demo/events', name: 'Events' },
  { href: '/sandbox/blocks', name: 'Blocks' },
] as const;
const API_LINK = { href: '/docs', name: 'API' };

/** Renders a page in the frame that all site pages share. None of these pages needs a script. */
export function renderSitePage({ assets, isSandbox }: SiteFrame, page: SitePage): string {
  const links = [...(isSandbox ? SANDBOX_LINKS : []), API_LINK];
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${page.title}</title>
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
${page.refreshS !== undefined && html`<meta http-equiv="refresh" content="${page.refreshS}">`}
${assets !== undefined && html`<link rel="icon" href="/icons/till.svg" type="image/svg+xml">`}
${assets?.styles.map((path) => html`<link rel="stylesheet" href="${path}">`)}
${assets?.font !== undefined && html`<link rel="preload" href="${assets.font}" as="font" type="font/woff2" crossorigin>`}
</head>
<body>
<header class="bar">
${page.of === 'shop' ? SHOP_NAME : gatewayName(isSandbox)}
<nav aria-label="Pages">${links.map(
    ({ href, name }) => html`<a href="${href}"${page.at === href && html` aria-current="page"`}>${name}</a>`,
  )}</nav>
</header>
<main>${page.body}</main>
<footer>${isSandbox ? 'A sandbox: the money, the goods and the chain are play things.' : 'Till, an open payment gateway.'}</footer>
</body>
</html>
`.markup;
}

const SHOP_NAME = html`<a class="name" href="/demo"><span class="mark" aria-hidden="true"></span>Demo shop</a>`;

function gatewayName(isSandbox: boolean): Html {
  return html`<a class="name" href="/"><img src="/icons/till.svg" alt="" width="28" height="28">Till${isSandbox && html` <span class="pill">Sandbox</span>`}</a>`;
}
