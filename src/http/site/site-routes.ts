import { sendFile } from '../checkout/static-files.ts';
import type { App, HttpDeps } from '../deps.ts';

const ONE_DAY = 'public, max-age=86400';

/** Routes for files that browsers request by themselves, such as the favicon. */
export async function siteRoutes(app: App, { page }: HttpDeps): Promise<void> {
  app.get('/favicon.ico', { schema: { hide: true }, config: { isCheap: true } }, (request, reply) => {
    const file = page?.files.get('icons/till.svg');
    return file === undefined ? reply.callNotFound() : sendFile({ file, cacheControl: ONE_DAY }, request, reply);
  });
}
