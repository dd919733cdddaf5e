import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PageAssets, PageBundle } from '../checkout/page-bundle.ts';
import { jsonInHtml } from '../checkout/page-document.ts';
import { pageHead } from '../checkout/page-head.ts';
import { pageHeaders } from '../checkout/page-policy.ts';
import { chooseLanguage } from '../checkout/page-state.ts';
import { sendText } from '../checkout/static-files.ts';
import type { HttpDeps } from '../deps.ts';
import { type Content, Html, html } from '../reference/html.ts';

/** A document for signed-in people whose script does everything: the dashboard and the point of sale. */
export interface BrowserApp<Strings> {
  readonly title: string;
  readonly assetsOf: (page: PageBundle) => PageAssets & { readonly strings: Readonly<Record<string, Strings>> };
  /** The initial state of the script, apart from the language and its texts. */
  readonly facts: object;
  readonly head?: Content;
}

const NOT_BUILT = 'This page has not been built. Run: npm run build';

export async function sendBrowserApp<Strings extends object>(
  { page, config }: HttpDeps,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  app: BrowserApp<Strings>,
): Promise<FastifyReply> {
  if (isOtherName(request.hostname, new URL(config.publicUrl).hostname)) {
    return reply.redirect(config.publicUrl + request.url);
  }
  if (page === undefined) return reply.code(503).type('text/plain; charset=utf-8').send(NOT_BUILT);
  const { lang } = request.query as { lang?: unknown };
  const { locale, dir } = chooseLanguage(page.renderer, {
    acceptLanguage: request.headers['accept-language'],
    lang: typeof lang === 'string' ? lang : undefined,
  });
  const assets = app.assetsOf(page);
  const strings = assets.strings[locale] ?? assets.strings.en;
  if (strings === undefined) throw new Error('The page has no words.');
  const state = { locale, dir, strings, ...app.facts };
  reply.headers(pageHeaders(config)).type('text/html; charset=utf-8');
  return sendText(renderApp(page, { ...app, assets, state }), request, reply);
}

/**
 * True if the browser opened this machine by another loopback name than the public one. Cookies and passkeys belong to one name, so
 * the browser is redirected to the public one.
 */
function isOtherName(asked: string, publicName: string): boolean {
  return LOOPBACK.has(asked) && LOOPBACK.has(publicName) && asked !== publicName;
}

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

interface Rendered extends Pick<BrowserApp<object>, 'title' | 'head'> {
  readonly assets: PageAssets;
  readonly state: { readonly locale: string; readonly dir: string };
}

function renderApp(page: PageBundle, { title, head, assets, state }: Rendered): string {
  return html`<!doctype html>
<html lang="${state.locale}" dir="${state.dir}">
${pageHead(page, { title, assets, more: head })}
<body>
<div id="root"></div>
<noscript>This page needs JavaScript.</noscript>
<script type="application/json" id="state">${new Html(jsonInHtml(state))}</script>
</body>
</html>
`.markup;
}
