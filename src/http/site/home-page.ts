import { type Html, html } from '../reference/html.ts';
import type { SitePage } from './site-page.ts';

interface Link {
  readonly href: string;
  readonly name: string;
  readonly text: string;
}

const SANDBOX_LINKS: readonly Link[] = [
  { href: '/demo', name: 'Demo shop', text: 'Buy something with play money, and watch the payment settle on chain.' },
  { href: '/sandbox/blocks', name: 'Blocks', text: 'The sandbox chain: its blocks and their payments.' },
];
const LINKS: readonly Link[] = [
  { href: '/docs', name: 'API reference', text: 'Every endpoint in the order of use, with examples to paste.' },
  { href: '/openapi.json', name: 'OpenAPI', text: 'The same contract, for programs.' },
  { href: '/ready', name: 'Readiness', text: 'Whether this node can take requests, and the state of each network.' },
  { href: '/health', name: 'Health', text: 'Whether the process is alive.' },
];

const GUIDES_LINK: Link = {
  href: '/guides/',
  name: 'Guides',
  text: 'How to take, make and run payments, page by page.',
};

export function homePage({
  isSandbox,
  hasGuides,
}: {
  readonly isSandbox: boolean;
  readonly hasGuides: boolean;
}): SitePage {
  const links = [...(isSandbox ? SANDBOX_LINKS : []), ...(hasGuides ? [GUIDES_LINK] : []), ...LINKS];
  return {
    title: isSandbox ? 'Till sandbox' : 'Till',
    of: 'gateway',
    body: html`<div class="hero">
<h1>${isSandbox ? html`A payment gateway,<br>with play money.` : 'A payment gateway runs here.'}</h1>
<p class="lead">A shop creates a payment, its customer picks a token and signs once, and the money reaches the shop on chain. This is Till, open and self-hosted.</p>
</div>
<ul class="rows links">${links.map(linkRow)}</ul>
<p class="aside"><strong>Did you come to pay?</strong> Open the link, or scan the code, that the shop gave you: it names your payment, and this address does not.</p>`,
  };
}

function linkRow({ href, name, text }: Link): Html {
  return html`<li><a class="whole" href="${href}">${name}</a><span class="faint">${text}</span><code>${href}</code></li>`;
}
