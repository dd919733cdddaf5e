import { sendFile } from '../checkout/static-files.ts';
import type { App, HttpDeps } from '../deps.ts';
import type { Gates } from '../entry/access.ts';
import { pageGate } from '../entry/page-gate.ts';

const ONE_DAY = 'public, max-age=86400';

/** Files that browsers request by themselves, such as the favicon. */
export async function siteRoutes(app: App, { gates, page }: HttpDeps & { gates: Gates }): Promise<void> {
  app.get('/favicon.ico', { schema: { hide: true }, onRequest: pageGate(gates) }, (request, reply) => {
    const file = page?.files.get('icons/till.svg');
    return file === undefined ? reply.callNotFound() : sendFile({ file, cacheControl: ONE_DAY }, request, reply);
  });
}
