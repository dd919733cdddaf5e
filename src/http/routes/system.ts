import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Type } from 'typebox';
import { isMigrated } from '../../store/migrate.ts';
import type { App, HttpDeps } from '../deps.ts';
import type { OpenApiDocument } from '../reference/openapi-document.ts';
import { renderReference } from '../reference/render-reference.ts';

const STYLESHEET = join(import.meta.dirname, '../reference/reference.css');
const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/** For machines that watch, and for people who read. */
export async function systemRoutes(app: App, deps: HttpDeps): Promise<void> {
  app.get('/health', { schema: HEALTH }, () => ({ status: 'ok' as const }));

  app.get('/ready', { schema: READY }, async (_request, reply) => {
    const database = await databaseState(deps);
    const isReady = database === 'ok';
    return reply.code(isReady ? 200 : 503).send({ ready: isReady, database });
  });

  app.get('/openapi.json', { schema: { hide: true } }, () => describe(app, deps));

  app.get('/docs', { schema: { hide: true } }, async (_request, reply) => {
    const page = renderReference(describe(app, deps));
    return reply.type('text/html; charset=utf-8').header('Content-Security-Policy', PAGE_POLICY).send(page);
  });

  app.get('/docs/reference.css', { schema: { hide: true } }, async (_request, reply) =>
    reply
      .type('text/css; charset=utf-8')
      .header('Cache-Control', 'max-age=3600')
      .send(await readFile(STYLESHEET)),
  );
}

/** The description, with the origin that clients of this gateway see. */
function describe(app: App, { config }: HttpDeps): OpenApiDocument {
  return { ...(app.swagger() as OpenApiDocument), servers: [{ url: config.publicUrl }] };
}

async function databaseState({ db }: HttpDeps): Promise<'ok' | 'unreachable' | 'not_migrated'> {
  try {
    return (await isMigrated(db.sql)) ? 'ok' : 'not_migrated';
  } catch {
    return 'unreachable';
  }
}

const HEALTH = {
  tags: ['Operations'],
  summary: 'Is the process alive',
  response: { 200: Type.Object({ status: Type.Literal('ok') }, { description: 'It is.' }) },
};

const ReadyBody = Type.Object({
  ready: Type.Boolean(),
  database: Type.String({ description: '`ok`, `unreachable` or `not_migrated`.' }),
});

const READY = {
  tags: ['Operations'],
  summary: 'Can the node take requests',
  response: {
    200: { ...ReadyBody, description: 'It can.' } as typeof ReadyBody,
    503: { ...ReadyBody, description: 'It cannot yet, or not now.' } as typeof ReadyBody,
  },
};
