import { pageHeaders } from '../checkout/page-policy.ts';
import { sendFile } from '../checkout/static-files.ts';
import type { App, HttpDeps } from '../deps.ts';
import { openGuides } from './guide-files.ts';

const FOREVER = 'public, max-age=31536000, immutable';
/** `Cache-Control` of files that keep their names when the guides are built again. */
const REVALIDATED = 'no-cache';

export type GuideDeps = Pick<HttpDeps, 'config' | 'guides'>;

/** The documentation as a site, if it was built. Its pages have no inline script or style, so they have the policy of all other pages. */
export async function guideRoutes(app: App, { config, guides = openGuides() }: GuideDeps): Promise<void> {
  const route = { schema: { hide: true }, config: { isCheap: true } } as const;
  app.get('/guides', route, (_request, reply) =>
    guides.isBuilt() ? reply.redirect('/guides/', 308) : reply.callNotFound(),
  );
  app.get('/guides/*', route, async (request, reply) => {
    const path = (request.params as { '*': string })['*'];
    const file = await guides.find(path);
    if (file === undefined) return reply.callNotFound();
    reply.headers(pageHeaders(config));
    return sendFile({ file, cacheControl: path.startsWith('assets/') ? FOREVER : REVALIDATED }, request, reply);
  });
}
