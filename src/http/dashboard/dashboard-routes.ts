import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DashboardState } from '../../../web/src/dashboard/page-state.ts';
import type { App, HttpDeps } from '../deps.ts';
import { payableCurrencies } from '../views/currencies.ts';
import { sendBrowserApp } from './browser-app.ts';

/** One document for all pages of the dashboard. Its script gets everything else from the API. */
export async function dashboardRoutes(app: App, deps: HttpDeps): Promise<void> {
  const build = deps.page?.dashboard.scripts.join(' ') ?? '';
  const facts = (): Omit<DashboardState, 'locale' | 'dir' | 'strings'> => ({
    isSandbox: deps.sandbox !== undefined,
    nowMs: deps.world.clock.nowMs(),
    build,
    currencies: payableCurrencies(deps),
  });
  const send = (request: FastifyRequest, reply: FastifyReply) =>
    sendBrowserApp(
      deps,
      { request, reply: reply.header('Till-Build', build) },
      { title: 'Till', assetsOf: ({ dashboard }) => dashboard, facts: facts() },
    );
  for (const path of ['/dashboard', '/dashboard/*']) {
    app.get(path, { schema: { hide: true }, config: { priority: 'normal' } }, send);
  }
}
