import { Type } from 'typebox';
import { DEFAULT_PIN, isPreview, KNOWN_VERSIONS } from '../../domain/version.ts';
import { programVersion } from '../../runtime/own-package.ts';
import type { App, HttpDeps } from '../deps.ts';
import { createReadiness, Readiness } from '../readiness.ts';

export async function systemRoutes(app: App, deps: HttpDeps): Promise<void> {
  app.get('/health', { schema: HEALTH, config: PROBE }, () => ({
    status: 'ok' as const,
    version: programVersion(),
  }));

  app.get('/versions', { schema: VERSIONS, config: { isCheap: true } }, () => ({
    versions: KNOWN_VERSIONS.map((version) => ({ version, isPreview: isPreview(version) })),
    default: DEFAULT_PIN,
  }));

  const check = createReadiness(deps);
  app.get('/ready', { schema: READY, config: PROBE }, async (_request, reply) => {
    const readiness = await check();
    return reply.code(readiness.ready ? 200 : 503).send(readiness);
  });
}

const PROBE = { priority: 'probe', isCheap: true } as const;

const HEALTH = {
  tags: ['Operations'],
  operationId: 'getHealth',
  summary: 'Check whether the process is alive',
  description: 'Answers while the process can answer at all. It asks neither the database nor a chain.',
  response: {
    200: Type.Object(
      { status: Type.Literal('ok'), version: Type.String({ description: 'The version of this node.' }) },
      { description: 'It is.' },
    ),
  },
};

const VERSIONS = {
  tags: ['Operations'],
  operationId: 'listVersions',
  summary: 'List the versions of the API',
  description: 'Each version that `Pay-Version` takes, and the one of new partners.',
  response: {
    200: Type.Object(
      {
        versions: Type.Array(
          Type.Object({ version: Type.String(), isPreview: Type.Boolean() }, { title: 'ApiVersion' }),
          {
            description: 'The oldest first. `Pay-Version` takes each of them. A preview may change at any time.',
          },
        ),
        default: Type.String({ description: 'The version of new partners, and of callers by App-Id.' }),
      },
      { description: 'The versions.' },
    ),
  },
};

const READY = {
  tags: ['Operations'],
  operationId: 'getReadiness',
  summary: 'Check whether the node can take requests',
  description: 'For load balancers. The answer has the reasons, whether it is 200 or 503.',
  response: {
    200: { ...Readiness, description: 'It can.' } as typeof Readiness,
    503: { ...Readiness, description: 'It cannot yet, or not now.' } as typeof Readiness,
  },
};
