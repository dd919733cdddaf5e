import type { PosState } from '../../../web/src/pos/page-state.ts';
import { sendFile } from '../checkout/static-files.ts';
import { sendBrowserApp } from '../dashboard/browser-app.ts';
import type { App, HttpDeps } from '../deps.ts';
import { PLAIN_PATH } from '../entry/payment-id.ts';
import { html } from '../reference/html.ts';
import { payableCurrencies } from '../views/currencies.ts';

const PATH = '/pos';
const MANIFEST_PATH = `${PATH}/manifest.webmanifest`;
/** The colours of the page in the light theme. */
const COLOURS = { theme_color: '#f4f3ef', background_color: '#f4f3ef' };
const HEAD = html`<link rel="manifest" href="${MANIFEST_PATH}">
<meta name="theme-color" content="#f4f3ef" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#0d0f13" media="(prefers-color-scheme: dark)">`;

/** The content security policy of the service worker, which is that of its script. The worker fetches files of this origin only. */
const WORKER_POLICY = "default-src 'none'; connect-src 'self'";

/** The web app manifest, by which a browser can install the page as an app. */
const MANIFEST = {
  name: 'Till point of sale',
  short_name: 'Till',
  id: PATH,
  start_url: PATH,
  scope: PATH,
  display: 'standalone',
  ...COLOURS,
  icons: [{ src: '/icons/till.svg', sizes: 'any', type: 'image/svg+xml', purpose: 'any' }],
};

/** The point of sale: a document, its manifest, and the service worker that opens it offline. */
export async function posRoutes(app: App, deps: HttpDeps): Promise<void> {
  const { config, sandbox, world } = deps;
  const route = { schema: { hide: true }, config: { priority: 'normal' } } as const;
  const cheap = { schema: { hide: true }, config: { priority: 'normal', isCheap: true } } as const;

  app.get(PATH, route, (request, reply) => {
    const facts: Omit<PosState, 'locale' | 'dir' | 'strings'> = {
      isSandbox: sandbox !== undefined,
      qrStart: config.qrLink === 'plain' ? config.publicUrl + PLAIN_PATH : null,
      nowMs: world.clock.nowMs(),
      currencies: payableCurrencies(deps),
    };
    return sendBrowserApp(deps, { request, reply }, { title: 'Till', assetsOf: ({ pos }) => pos, facts, head: HEAD });
  });

  app.get(MANIFEST_PATH, cheap, (_request, reply) =>
    reply.type('application/manifest+json; charset=utf-8').send(JSON.stringify(MANIFEST)),
  );

  app.get(`${PATH}/worker.js`, cheap, (request, reply) => {
    const file = deps.page?.files.get(deps.page.pos.worker);
    if (file === undefined) return reply.callNotFound();
    // `Service-Worker-Allowed` widens the scope of the worker, because its script lies below the path of the page. `no-cache` lets
    // a browser find a changed script at the next visit.
    reply.headers({ 'Service-Worker-Allowed': PATH, 'Content-Security-Policy': WORKER_POLICY });
    return sendFile({ file, cacheControl: 'no-cache' }, request, reply);
  });
}
