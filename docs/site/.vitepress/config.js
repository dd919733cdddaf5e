import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitepress';
import { anchorOf } from '../../../scripts/guides/markdown.ts';
import { colourClasses } from './colour-classes.js';

const SITE = process.cwd();
const colours = colourClasses();

// The pages are copies that `npm run guides` writes into `pages`, with links for the site. Run it, not VitePress.
export default defineConfig({
  lang: 'en',
  title: 'Till',
  description: 'An open, self-hosted payment gateway',
  srcDir: 'pages',
  cacheDir: 'node_modules/.cache',
  // Pages of `sdk.md` and such have no folder of their own, so links with `.html` work on any file server.
  cleanUrls: false,
  // The page of each chapter names the shop and the gateway on this machine.
  ignoreDeadLinks: [/^https?:\/\/localhost/],
  // By default a style element is added for a moment when the theme changes, which the policy of the gateway's pages refuses.
  appearance: { disableTransition: false },
  // The chunk replaces an inline script, which the policy of the gateway's pages refuses.
  metaChunk: true,
  markdown: {
    anchor: { slugify: anchorOf },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    codeTransformers: [colours.transformer],
    config: (markdown) => markdown.core.ruler.push('alignment', alignByClass),
  },
  transformHead: ({ pageData, siteData }) => [
    ['link', { rel: 'icon', href: `${siteData.base}till.svg`, type: 'image/svg+xml' }],
    ['link', { rel: 'stylesheet', href: `${siteData.base}code.css` }],
    // The page for addresses that are not there has no twin.
    ...(pageData.isNotFound
      ? []
      : [['link', { rel: 'alternate', type: 'text/markdown', href: `${siteData.base}${pageData.relativePath}` }]]),
  ],
  buildEnd: ({ outDir }) => writeFileSync(join(outDir, 'code.css'), colours.sheet()),
  themeConfig: {
    logo: '/till.svg',
    nav: [
      { text: 'Start', link: '/start' },
      { text: 'Concepts', link: '/concepts' },
      { text: 'Shops', link: '/partners' },
      { text: 'Wallets', link: '/wallets' },
      { text: 'Operators', link: '/operating' },
      { text: 'Reference', link: '/errors' },
    ],
    sidebar: JSON.parse(readFileSync(join(SITE, 'pages/sidebar.json'), 'utf8')),
    outline: [2, 3],
    search: { provider: 'local' },
    externalLinkIcon: true,
  },
});

/** The alignment of a table's cells, as classes of the theme. */
function alignByClass(state) {
  for (const token of state.tokens) {
    const style = token.attrGet('style');
    if (style === null) continue;
    token.attrs = token.attrs.filter(([name]) => name !== 'style');
    token.attrJoin('class', style.replace(/^text-align:\s*/, 'align-'));
  }
}
