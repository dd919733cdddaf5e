import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DashboardState } from '../../../web/src/dashboard/page-state.ts';
import type { PageBundle } from '../checkout/page-bundle.ts';
import { jsonInHtml } from '../checkout/page-document.ts';
import { pageHeaders } from '../checkout/page-policy.ts';
import { chooseLanguage } from '../checkout/page-state.ts';
import { sendText } from '../checkout/static-files.ts';
import type { App, HttpDeps } from '../deps.ts';
import { Html, html } from '../reference/html.ts';

const NOT_BUILT = 'The dashboard has not been built. Run: npm run build';

/** The dashboard: one document for all its pages. Its script asks the API for everything else. */
export async function dashboardRoutes(app: App, deps: HttpDeps): Promise<void> {
  const send = (request: FastifyRequest, reply: FastifyReply) => sendDashboard(deps, request, reply);
  for (const path of ['/dashboard', '/dashboard/*']) {
    app.get(path, { schema: { hide: true }, config: { priority: 'normal' } }, send);
  }
}

async function sendDashboard(deps: HttpDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { page, config } = deps;
  if (isOtherName(request.hostname, new URL(config.publicUrl).hostname)) {
    return reply.redirect(config.publicUrl + request.url);
  }
  if (page === undefined) return reply.code(503).type('text/plain; charset=utf-8').send(NOT_BUILT);
  const { lang } = request.query as { lang?: unknown };
  const { locale, dir } = chooseLanguage(page.renderer, {
    acceptLanguage: request.headers['accept-language'],
    lang: typeof lang === 'string' ? lang : undefined,
  });
  const strings = page.dashboard.strings[locale] ?? page.dashboard.strings.en;
  if (strings === undefined) throw new Error('The dashboard has no words.');
  const build = page.dashboard.scripts.join(' ');
  const state: DashboardState = { locale, dir, strings, isSandbox: deps.sandbox !== undefined, build };
  reply.header('Till-Build', build).headers(pageHeaders(deps.config)).type('text/html; charset=utf-8');
  return sendText(renderDashboard(page, state), request, reply);
}

/**
 * True if the person has opened this machine by another of its names. Cookies and passkeys belong to one name, so the page is
 * opened by the public one.
 */
function isOtherName(asked: string, publicName: string): boolean {
  return LOOPBACK.has(asked) && LOOPBACK.has(publicName) && asked !== publicName;
}

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

function renderDashboard({ dashboard, files }: PageBundle, state: DashboardState): string {
  return html`<!doctype html>
<html lang="${state.locale}" dir="${state.dir}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<title>Till</title>
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no">
${files.has('icons/till.svg') && html`<link rel="icon" href="/icons/till.svg" type="image/svg+xml">`}
${dashboard.styles.map((path) => html`<link rel="stylesheet" href="${path}">`)}
${dashboard.font !== undefined && html`<link rel="preload" href="${dashboard.font}" as="font" type="font/woff2" crossorigin>`}
${dashboard.preloads.map((path) => html`<link rel="modulepreload" href="${path}">`)}
${dashboard.scripts.map((path) => html`<script type="module" src="${path}"></script>`)}
</head>
<body>
<div id="root"></div>
<noscript>The dashboard needs JavaScript.</noscript>
<script type="application/json" id="state">${new Html(jsonInHtml(state))}</script>
</body>
</html>
`.markup;
}
