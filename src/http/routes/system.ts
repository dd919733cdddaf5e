import { Type } from 'typebox';
import type { App, HttpDeps } from '../deps.ts';
import { createReadiness, Readiness } from '../readiness.ts';

/** Routes for monitoring. */
export async function systemRoutes(app: App, deps: HttpDeps): Promise<void> {
  app.get('/health', { schema: HEALTH, config: PROBE }, () => ({ status: 'ok' as const }));

  const check = createReadiness(deps);
  app.get('/ready', { schema: READY, config: PROBE }, async (_request, reply) => {
    const readiness = await check();
    return reply.code(readiness.ready ? 200 : 503).send(readiness);
  });
}

const PROBE = { priority: 'probe', isCheap: true } as const;

const HEALTH = {
  tags: ['Operations'],
  summary: 'Check whether the process is alive',
  response: { 200: Type.Object({ status: Type.Literal('ok') }, { description: 'It is.' }) },
};

const READY = {
  tags: ['Operations'],
  summary: 'Check whether the node can take requests',
  response: {
    200: { ...Readiness, description: 'It can.' } as typeof Readiness,
    503: { ...Readiness, description: 'It cannot yet, or not now.' } as typeof Readiness,
  },
};
