import { html } from '../reference/html.ts';
import type { SitePage } from './site-page.ts';

/** An error for people: the same sentence that a program gets, and links. */
export function errorPage({
  status,
  message,
  requestId,
}: {
  readonly status: number;
  readonly message: string;
  readonly requestId: string;
}): SitePage {
  const title = TITLES[status] ?? (status >= 500 ? 'Something went wrong' : 'This cannot be shown');
  const text = status === 404 ? 'The address may be misspelt, or the page may have moved.' : message;
  return {
    title: `${title} · Till`,
    of: 'gateway',
    body: html`<div class="message"><h1>${title}</h1><p class="lead">${text}</p>
<p class="actions"><a class="button" href="/">Front page</a><a class="button quiet" href="/docs">API reference</a></p>
<p class="code">Error ${status} · Request-Id <code>${requestId}</code></p></div>`,
  };
}

const TITLES: Readonly<Record<number, string>> = {
  404: 'There is no such page',
  405: 'This address is not a page',
  429: 'Too many requests',
  503: 'Briefly unavailable',
};
