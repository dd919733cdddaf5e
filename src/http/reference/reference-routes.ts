import { networkJsonSchema } from '../../chains/records/network-schema.ts';
import { makeFile, type StaticFile, sendFile } from '../checkout/static-files.ts';
import type { App, HttpDeps } from '../deps.ts';
import { SAMPLE_ORIGIN } from '../sample.ts';
import type { OpenApiDocument } from './openapi-document.ts';
import { renderReference } from './render-reference.ts';

const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; form-action 'none'; " +
  "base-uri 'none'; frame-ancestors 'none'";
/** `Cache-Control` of the documents. Clients may store them but must revalidate them. They get 304 until another version runs. */
const REVALIDATED = 'no-cache';

/**
 * The OpenAPI document and the reference page. Both are rendered at the first request and kept: rendering takes longer than any other
 * answer, and anybody may request it.
 */
export async function referenceRoutes(app: App, deps: HttpDeps): Promise<void> {
  const route = { schema: { hide: true } };
  /** The document with the public origin of this gateway. */
  const describe = (): OpenApiDocument => {
    const { publicUrl } = deps.config;
    const text = JSON.stringify(app.swagger()).replaceAll(SAMPLE_ORIGIN, publicUrl);
    return { ...JSON.parse(text), servers: [{ url: publicUrl }] };
  };
  const document = once(() => makeFile('application/json; charset=utf-8', Buffer.from(JSON.stringify(describe()))));
  const schema = once(() => makeFile('application/schema+json', Buffer.from(JSON.stringify(networkJsonSchema()))));
  const page = once(() =>
    makeFile('text/html; charset=utf-8', Buffer.from(renderReference(describe(), deps.page?.reference))),
  );

  app.get('/openapi.json', route, (request, reply) =>
    sendFile({ file: document(), cacheControl: REVALIDATED }, request, reply),
  );

  // The JSON schema of network files, which name this URL in `$schema`. Editors and programs of other origins may read it.
  app.get('/networks.schema.json', route, (request, reply) => {
    reply.header('Access-Control-Allow-Origin', '*');
    return sendFile({ file: schema(), cacheControl: REVALIDATED }, request, reply);
  });

  app.get('/docs', route, (request, reply) => {
    reply.header('Content-Security-Policy', PAGE_POLICY).header('Referrer-Policy', 'no-referrer');
    return sendFile({ file: page(), cacheControl: REVALIDATED }, request, reply);
  });
}

function once(make: () => StaticFile): () => StaticFile {
  let made: StaticFile | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
