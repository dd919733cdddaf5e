import type { FastifyReply, FastifyRequest } from 'fastify';
import { subjectOfEvent } from '../../actions/event-subject.ts';
import type { Chain } from '../../chains/chain.ts';
import { parseTransactionId } from '../../domain/addresses/families.ts';
import type { App } from '../deps.ts';
import { toApiError } from '../errors.ts';
import { sendSitePage } from '../site/send-site-page.ts';
import type { SitePage } from '../site/site-page.ts';
import { blockPage, blocksPage, type EventNamer, transactionPage } from './block-pages.ts';
import { checkOrder, DemoApiError, orderProduct, PRODUCTS, type ShopDeps } from './demo-shop.ts';
import { passToChain } from './sandbox-rpc.ts';
import { createShopEvents } from './shop-events.ts';
import { eventsPage, shopPage, thanksPage, troublePage } from './shop-pages.ts';
import { createShopWebhooks, WEBHOOKS_AT } from './shop-webhooks.ts';

/** Routes of the sandbox only: the shop, the block pages, and the chain's RPC for the wallet of the checkout page. */
export async function demoRoutes(app: App, deps: ShopDeps): Promise<void> {
  const route = { schema: { hide: true } };
  const send = (request: FastifyRequest, reply: FastifyReply, page: SitePage) =>
    sendSitePage(deps, { request, reply, page });
  const page = {
    ...route,
    errorHandler: (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
      const { status } = error instanceof DemoApiError ? { status: 502 } : toApiError(error);
      if (status >= 500) deps.log.error({ requestId: request.id, err: error }, 'request failed');
      return send(request, reply.code(status), troublePage('The sandbox could not do it just now. Please try again.'));
    },
  };

  const events = createShopEvents();
  const webhooks = createShopWebhooks(app, deps, events);
  app.addHook(
    'onListen',
    () => void webhooks.register().catch((err: unknown) => deps.log.warn({ err }, 'the shop gets no webhooks')),
  );
  await app.register(async (scope: App) => {
    // The signature covers the exact bytes of the body, so the body is not parsed.
    scope.removeContentTypeParser('application/json');
    scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    scope.post(WEBHOOKS_AT, route, async (request, reply) => {
      const { body } = request;
      const isTaken = body instanceof Uint8Array && (await webhooks.receive(body, request.headers));
      return reply.code(isTaken ? 204 : 400).send();
    });
  });

  // A webhook receiver that always answers 410, like that of a shop that no longer exists. The gateway disables endpoints that
  // point here.
  app.post('/demo/gone', { ...route, config: { ignoresBody: true } }, (_request, reply) => reply.code(410).send());

  app.get('/demo', page, (request, reply) => send(request, reply, shopPage()));

  app.get('/demo/events', page, (request, reply) => send(request, reply, eventsPage(events.list())));

  app.post('/demo/buy/:product', { ...page, config: { ignoresBody: true } }, async (request, reply) => {
    const { product: id } = request.params as { product: string };
    const product = PRODUCTS.find((one) => one.id === id);
    if (product === undefined) return send(request, reply.code(404), troublePage('The shop does not have that.'));
    const { gatewayUrl } = await orderProduct(app, deps, product);
    return reply.redirect(gatewayUrl, 303);
  });

  app.get('/demo/thanks', page, async (request, reply) => {
    const { payment_id: paymentId, product: id } = request.query as Record<string, unknown>;
    const order =
      typeof paymentId === 'string' ? await checkOrder(app, deps, paymentId).catch(unlessUnknown) : undefined;
    const product = PRODUCTS.find((one) => one.id === id);
    return send(request, reply.code(order === undefined ? 404 : 200), thanksPage(order, product));
  });

  app.post('/sandbox/rpc', route, (request) => passToChain(deps.sandbox.rpcUrl, request.body));

  app.get('/sandbox/blocks', page, async (request, reply) => {
    const { newest } = request.query as Record<string, unknown>;
    const height = typeof newest === 'string' && /^\d{1,15}$/.test(newest) ? Number(newest) : undefined;
    return send(request, reply, await blocksPage(deps.registry, chainOf(deps).reader, height));
  });

  const nameOf: EventNamer = (event) => subjectOfEvent(deps, chainOf(deps).payerSide, event);
  app.get('/sandbox/blocks/:number(^\\d{1,15}$)', page, async (request, reply) => {
    const found = await blockPage(
      deps.registry,
      chainOf(deps).reader,
      Number((request.params as { number: string }).number),
      nameOf,
    );
    if (found === undefined) return send(request, reply.code(404), troublePage('The chain has no such block.'));
    return send(request, reply, found);
  });

  app.get('/sandbox/tx/:hash', page, async (request, reply) => {
    const { hash } = request.params as { hash: string };
    const id = parseTransactionId(deps.sandbox.chainId, hash);
    const found = id === undefined ? undefined : await transactionPage(deps.registry, chainOf(deps), id, nameOf);
    if (found === undefined) return send(request, reply.code(404), troublePage('The chain knows no such transaction.'));
    return send(request, reply, found);
  });
}

function chainOf({ chains, sandbox }: ShopDeps): Chain {
  const connected = chains.find(sandbox.chainId);
  if (connected === undefined) throw new Error('The sandbox chain is not connected.');
  return connected.chain;
}

/** Rethrows every error except a 4xx answer of the API. An unknown payment id is a mistake of the visitor, not a fault. */
function unlessUnknown(error: unknown): undefined {
  if (!(error instanceof DemoApiError) || error.status >= 500) throw error;
}
