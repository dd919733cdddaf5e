import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PageState } from '../../../web/src/checkout/page-state.ts';
import { accentProblem, accentSheet, parseColour } from '../../domain/accent.ts';
import { ACCENT_SHEETS } from '../../domain/accent-path.ts';
import { paymentIdOf } from '../../domain/ids.ts';
import type { Picture } from '../../domain/picture.ts';
import { codeInPath, openSignCode, SIGN_PATH } from '../../domain/sign-code.ts';
import { ApiError } from '../../errors.ts';
import { findShownRefunds } from '../../store/money/refunds.ts';
import { findLogo } from '../../store/parties/logos.ts';
import { findPartner } from '../../store/parties/partners.ts';
import { findLinkPicture } from '../../store/payments/payment-links.ts';
import type { Payment } from '../../store/payments/payments.ts';
import type { Reader } from '../../store/plumbing/database.ts';
import type { App, HttpDeps } from '../deps.ts';
import { PLAIN_PATH, paymentIdIn } from '../entry/payment-id.ts';
import { errorSender, toApiError } from '../errors.ts';
import { paymentNotFound } from '../routes/payments.ts';
import { openGuides } from '../site/guide-files.ts';
import { homePage } from '../site/home-page.ts';
import { sendSitePage } from '../site/send-site-page.ts';
import { wantsPage } from '../site/wants-page.ts';
import { type PageBrand, pageBrand } from '../views/brand.ts';
import { ICON_POLICY, iconFiles } from './icon-files.ts';
import { renderDocument } from './page-document.ts';
import { pageHeaders } from './page-policy.ts';
import { chooseLanguage, type Language, pairingFor, paymentPage, refundPage } from './page-state.ts';
import { sendFile, sendText } from './static-files.ts';
import { transactionUrl } from './transaction-link.ts';

/** Route options of the checkout page and its files. Payers need them to pay, so under load they are refused later than other pages. */
const PAYERS = { priority: 'normal' } as const;
const FOREVER = 'public, max-age=31536000, immutable';
const ONE_DAY = 'public, max-age=86400';
/** The answer if the checkout page was not built. The API works without the page. */
const NOT_BUILT = 'The checkout page has not been built. Run: npm run build';

export async function checkoutRoutes(app: App, deps: HttpDeps): Promise<void> {
  const sendError = errorSender(deps);
  const page = {
    schema: { hide: true },
    config: PAYERS,
    errorHandler: (error: unknown, request: FastifyRequest, reply: FastifyReply) =>
      deps.page === undefined ? sendError(error, request, reply) : sendTrouble(deps, error, request, reply),
  };

  app.get('/', page, (request, reply) =>
    'pid' in (request.query as object)
      ? sendPayment(deps, wordIn(request, 'pid'), request, reply)
      : sendHome(deps, request, reply),
  );
  for (const path of ['/pay_*', `${PLAIN_PATH}*`]) {
    app.get(path, page, (request, reply) =>
      sendPayment(deps, deps.config.publicUrl + request.url.split('?', 1)[0], request, reply),
    );
  }
  app.get(`${SIGN_PATH}*`, page, (request, reply) => sendRefund(deps, request, reply));
  app.get('/tx/:network/:id', page, (request, reply) => {
    const { network, id } = request.params as { network: string; id: string };
    const url = transactionUrl(deps, network, id);
    if (url === undefined) throw paymentNotFound();
    return reply.header('Referrer-Policy', 'no-referrer').redirect(url);
  });

  const findIcon = iconFiles(deps.config.registry);
  for (const [prefix, cacheControl] of [
    ['assets', FOREVER],
    ['icons', ONE_DAY],
  ] as const) {
    app.get(`/${prefix}/*`, { schema: { hide: true }, config: { ...PAYERS, isCheap: true } }, (request, reply) => {
      const path = (request.params as { '*': string })['*'];
      const file = (prefix === 'icons' ? findIcon(path) : undefined) ?? deps.page?.files.get(`${prefix}/${path}`);
      if (file === undefined) return reply.callNotFound();
      if (prefix === 'icons') {
        reply.headers({ 'Cross-Origin-Resource-Policy': 'cross-origin', 'Content-Security-Policy': ICON_POLICY });
      }
      return sendFile({ file, cacheControl }, request, reply);
    });
  }

  app.get(
    `${ACCENT_SHEETS}:name`,
    { schema: { hide: true }, config: { ...PAYERS, isCheap: true } },
    (request, reply) => {
      const [, digits = ''] = /^([0-9a-f]{6})\.css$/.exec((request.params as { name: string }).name) ?? [];
      const accent = parseColour(`#${digits}`);
      if (accent === null || accentProblem(accent) !== undefined) return reply.callNotFound();
      return reply.header('Cache-Control', ONE_DAY).type('text/css; charset=utf-8').send(accentSheet(accent));
    },
  );

  app.get('/logos/:hash', { schema: { hide: true }, config: PAYERS }, async (request, reply) => {
    const { hash } = request.params as { hash: string };
    const logo = /^[0-9a-f]{32}$/.test(hash) ? await findPicture(deps.db.sql, hash) : undefined;
    if (logo === undefined) return reply.callNotFound();
    reply.headers({ 'Cache-Control': FOREVER, ETag: `"${hash}"`, 'Cross-Origin-Resource-Policy': 'cross-origin' });
    return request.headers['if-none-match'] === `"${hash}"`
      ? reply.code(304).send()
      : reply.type(logo.type).send(logo.bytes);
  });
}

/** A logo of a merchant, or the picture of a payment link. */
async function findPicture(db: Reader, hash: string): Promise<Picture | undefined> {
  return (await findLogo(db, hash)) ?? findLinkPicture(db, hash);
}

/** Answers a request for `/` without a payment id: with the home page for people, with an error for programs. */
function sendHome(deps: HttpDeps, request: FastifyRequest, reply: FastifyReply): FastifyReply | Promise<FastifyReply> {
  if (!wantsPage(request)) return errorSender(deps)(nothingAtRoot(), request, reply);
  const { guides = openGuides() } = deps;
  const page = homePage({ isSandbox: deps.sandbox !== undefined, hasGuides: guides.isBuilt() });
  return sendSitePage(deps, { request, reply, page });
}

function nothingAtRoot(): ApiError {
  const message = 'There is nothing at the root. /openapi.json describes the API.';
  return new ApiError('invalid_params', message, { status: 404 });
}

async function sendPayment(
  deps: HttpDeps,
  spelling: string | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const id = spelling === undefined ? undefined : paymentIdIn(spelling, deps.config.publicUrl);
  const payment = id === undefined ? undefined : await deps.readPayment(id);
  if (payment === undefined) throw paymentNotFound();
  if (payment.status === 'requires_action') deps.openings.note(payment.id);
  const frameOrigins = (await findPartner(deps.db.sql, payment.partnerId))?.frameOrigins ?? [];
  const isEmbeddable = frameOrigins.length > 0;
  const pairing = pairingFor(deps, payment);
  reply.headers(pageHeaders(deps.config, { frameOrigins, relayOrigin: pairing?.relayUrl }));
  const brand = await brandOf(deps, payment);
  return sendPage(deps, { request, reply, brand }, (language) =>
    paymentPage(deps, { payment, language, isEmbeddable, pairing }),
  );
}

/** The page on which the account that received a payment signs for a refund. No site may embed it. */
async function sendRefund(deps: HttpDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const code = codeInPath((request.params as { '*': string })['*']);
  const id = openSignCode(deps.signingKeys, code);
  const payment = id === undefined ? undefined : await deps.readPayment(paymentIdOf(id));
  const now = new Date(deps.world.clock.nowMs());
  const [refund] = id === undefined ? [] : await findShownRefunds(deps.db.sql, { id, now });
  if (payment === undefined || refund === undefined) throw paymentNotFound();
  reply.headers(pageHeaders(deps.config));
  const brand = await brandOf(deps, payment);
  return sendPage(deps, { request, reply, brand }, (language) => refundPage(deps, { payment, refund, code, language }));
}

/** Renders an error as a page: the payment does not exist, or the gateway is unavailable. */
function sendTrouble(deps: HttpDeps, error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const { status, retryAfterS } = toApiError(error);
  if (status >= 500) deps.log.error({ requestId: request.id, err: error }, 'request failed');
  if (retryAfterS !== undefined) reply.header('Retry-After', String(retryAfterS));
  reply.code(status).headers(pageHeaders(deps.config));
  const kind = status === 404 ? 'not_found' : 'unavailable';
  return sendPage(deps, { request, reply }, async (language) => ({ kind, ...language }));
}

async function brandOf({ config, merchants }: HttpDeps, { merchantId }: Payment): Promise<PageBrand> {
  return pageBrand(config, await merchants.get(merchantId));
}

interface Sending {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly brand?: PageBrand;
}

async function sendPage(
  { page }: HttpDeps,
  { request, reply, brand }: Sending,
  stateIn: (language: Language) => Promise<PageState>,
): Promise<FastifyReply> {
  if (page === undefined) return reply.code(503).type('text/plain; charset=utf-8').send(NOT_BUILT);
  const asked = { acceptLanguage: request.headers['accept-language'], lang: wordIn(request, 'lang') };
  const state = await stateIn(chooseLanguage(page.renderer, asked));
  const shown = brand?.showsPoweredBy === false ? withoutPoweredBy(state) : state;
  reply.type('text/html; charset=utf-8');
  return sendText(renderDocument(page, shown, brand?.sheet), request, reply);
}

/** Hides the line "Powered by …" by an empty text, which needs no script. */
function withoutPoweredBy(state: PageState): PageState {
  return { ...state, strings: { ...state.strings, poweredBy: '' } };
}

/** A query parameter, if it was given exactly once. */
function wordIn({ query }: FastifyRequest, name: string): string | undefined {
  const value = (query as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' ? value : undefined;
}
