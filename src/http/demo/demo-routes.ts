import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Chain } from '../../chains/chain.ts';
import { pageHeaders } from '../checkout/page-policy.ts';
import { sendText } from '../checkout/static-files.ts';
import type { App } from '../deps.ts';
import type { Gates } from '../entry/access.ts';
import { addressGroup } from '../entry/rate-limit.ts';
import { toApiError } from '../errors.ts';
import { blocksPage, transactionPage } from './block-pages.ts';
import { type DemoPage, renderDemoPage } from './demo-page.ts';
import { checkOrder, DemoApiError, orderProduct, PRODUCTS, type ShopDeps } from './demo-shop.ts';
import { passToChain } from './sandbox-rpc.ts';
import { shopPage, thanksPage, troublePage } from './shop-pages.ts';

const STYLESHEET = join(import.meta.dirname, 'demo.css');

/** What only the sandbox has: a shop to buy from, a chain to look at, and the chain's RPC for the page's own wallet. */
export async function demoRoutes(app: App, { gates, ...deps }: ShopDeps & { gates: Gates }): Promise<void> {
  const { sandbox, config } = deps;
  const onRequest = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => {
    try {
      gates.limits.address.take(reply, addressGroup(request.ip));
      done();
    } catch (error) {
      done(error as Error);
    }
  };
  const route = { schema: { hide: true }, onRequest };
  const page = {
    ...route,
    errorHandler: (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
      const { status } = error instanceof DemoApiError ? { status: 502 } : toApiError(error);
      if (status >= 500) deps.log.error({ requestId: request.id, err: error }, 'request failed');
      return send(request, reply.code(status), troublePage('The sandbox could not do it just now. Please try again.'));
    },
  };

  app.get('/demo', page, (request, reply) => send(request, reply, shopPage()));

  app.post('/demo/buy/:product', { ...page, config: { ignoresBody: true } }, async (request, reply) => {
    const { product: id } = request.params as { product: string };
    const product = PRODUCTS.find((one) => one.id === id);
    if (product === undefined) return send(request, reply.code(404), troublePage('The shop does not have that.'));
    const { gatewayUrl } = await orderProduct(app, deps, product);
    return reply.headers(headers()).redirect(gatewayUrl, 303);
  });

  app.get('/demo/thanks', page, async (request, reply) => {
    const { payment_id: paymentId, product: id } = request.query as Record<string, unknown>;
    const order =
      typeof paymentId === 'string' ? await checkOrder(app, deps, paymentId).catch(unlessUnknown) : undefined;
    const product = PRODUCTS.find((one) => one.id === id);
    return send(request, reply.code(order === undefined ? 404 : 200), thanksPage(order, product));
  });

  app.get('/demo/demo.css', route, async (_request, reply) =>
    reply
      .type('text/css; charset=utf-8')
      .header('Cache-Control', 'max-age=3600')
      .send(await readFile(STYLESHEET)),
  );

  app.post('/sandbox/rpc', route, (request) => passToChain(sandbox.rpcUrl, request.body));

  app.get('/sandbox/blocks', page, async (request, reply) => send(request, reply, await blocksPage(chainOf(deps))));

  app.get('/sandbox/tx/:hash', page, async (request, reply) => {
    const { hash } = request.params as { hash: string };
    const found = /^0x[0-9a-fA-F]{64}$/.test(hash)
      ? await transactionPage(chainOf(deps), hash.toLowerCase())
      : undefined;
    if (found === undefined) return send(request, reply.code(404), troublePage('The chain knows no such transaction.'));
    return send(request, reply, found);
  });

  function send(request: FastifyRequest, reply: FastifyReply, content: DemoPage): Promise<FastifyReply> {
    reply.type('text/html; charset=utf-8').headers(headers());
    return sendText(renderDemoPage(content), request, reply);
  }

  /** Buying ends on the checkout, and browsers hold a redirect of a form against this too. */
  function headers() {
    return pageHeaders(config, { formAction: `'self' ${config.publicUrl}` });
  }
}

function chainOf({ chains, sandbox }: ShopDeps): Chain {
  const connected = chains.find(sandbox.chainId);
  if (connected === undefined) throw new Error('The sandbox chain is not connected.');
  return connected.chain;
}

/** A payment nobody knows is no trouble of ours. */
function unlessUnknown(error: unknown): undefined {
  if (!(error instanceof DemoApiError) || error.status >= 500) throw error;
}
