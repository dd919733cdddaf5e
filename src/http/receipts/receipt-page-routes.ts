import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PaperSize, ReceiptPageState } from '../../../web/src/receipts/page-state.ts';
import { isId } from '../../domain/ids.ts';
import { ApiError } from '../../errors.ts';
import { isPaperSize, PAPERS } from '../../paper/papers.ts';
import { PressError } from '../../paper/press.ts';
import { findLogo } from '../../store/parties/logos.ts';
import type { Payment } from '../../store/payments/payments.ts';
import type { PageBundle } from '../checkout/page-bundle.ts';
import { pageHeaders } from '../checkout/page-policy.ts';
import { chooseLanguage } from '../checkout/page-state.ts';
import { renderScriptless } from '../checkout/scriptless-document.ts';
import { makeFile, sendFile, sendText } from '../checkout/static-files.ts';
import type { App, HttpDeps } from '../deps.ts';
import { plainUrl } from '../entry/payment-id.ts';
import { addressGroup } from '../entry/rate-limit.ts';
import { errorSender, toApiError } from '../errors.ts';
import { paymentNotFound } from '../routes/payments.ts';
import { pageBrand } from '../views/brand.ts';
import { receiptPage } from './receipt-state.ts';
import { isReceiptSecret, OLDER_RECEIPT_ROUTE, RECEIPT_ROUTE } from './receipt-url.ts';
import { signedReceipt } from './signed-receipt.ts';

const SCRIPT = new URL('../../../docs/verify-receipt.mjs', import.meta.url);
const ONE_HOUR = 'public, max-age=3600';
/**
 * `Cache-Control` of receipts. A receipt changes with refunds, so a browser must ask the gateway again at each visit. Only the
 * payer's browser may store it, no shared cache.
 */
const ASK_AGAIN = 'private, no-cache';
const NOT_BUILT = 'The page of receipts has not been built. Run: npm run build';

type PaidPayment = Payment & { readonly tokenAsset: string };

/** Receipts for payers, as a page, as PDF and as signed JSON. The secret in the URL is the right to see them. */
export async function receiptPageRoutes(app: App, deps: HttpDeps): Promise<void> {
  const page = {
    schema: { hide: true },
    config: { priority: 'spare' },
    errorHandler: (error: unknown, request: FastifyRequest, reply: FastifyReply) =>
      sendTrouble(deps, error, request, reply),
  } as const;
  const url = RECEIPT_ROUTE;
  app.get(url, page, (request, reply) =>
    withPaid(deps, request, reply, async (payment, bundle) => {
      const brand = pageBrand(deps.config, await deps.merchants.get(payment.merchantId));
      const state = await receiptPage(deps, { payment, brand, language: languageOf(bundle, request) });
      return sendPage(deps, request, reply, { state, brandSheet: brand.sheet });
    }),
  );
  app.get(`${url}.pdf`, page, (request, reply) =>
    withPaid(deps, request, reply, (payment, bundle) => sendPdf(deps, request, reply, { payment, bundle })),
  );
  app.get(`${url}.json`, { schema: { hide: true }, config: { priority: 'spare' } }, async (request, reply) => {
    const payment = await findPayment(deps, request);
    return reply.header('Cache-Control', ASK_AGAIN).send(await signedReceipt(deps, payment));
  });
  // Receipt URLs of earlier versions had no secret. They are redirected to the checkout, which shows only what the payment's id
  // alone may show.
  for (const older of [OLDER_RECEIPT_ROUTE, `${OLDER_RECEIPT_ROUTE}.pdf`]) {
    app.get(older, page, async (request, reply) => {
      const id = idIn(request);
      if (id === undefined) throw paymentNotFound();
      return reply.redirect(plainUrl(deps.config.publicUrl, id), 303);
    });
  }

  const script = makeFile('text/javascript; charset=utf-8', await readFile(SCRIPT));
  app.get(
    '/verify-receipt.mjs',
    { schema: { hide: true }, config: { priority: 'spare', isCheap: true } },
    (request, reply) => sendFile({ file: script, cacheControl: ONE_HOUR }, request, reply),
  );
}

function idIn({ params }: FastifyRequest): string | undefined {
  const id = `pay_${(params as { id: string }).id}`;
  return isId('pay_', id) ? id : undefined;
}

async function findPayment(deps: HttpDeps, request: FastifyRequest): Promise<Payment> {
  const id = idIn(request);
  const { secret } = request.params as { secret: string };
  const payment = id !== undefined && isReceiptSecret(deps, id, secret) ? await deps.readPayment(id) : undefined;
  if (payment === undefined) throw paymentNotFound();
  return payment;
}

/** Calls `send` with the payment if it is paid. Otherwise it has no receipt, and the request is redirected to the checkout. */
async function withPaid(
  deps: HttpDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  send: (payment: PaidPayment, bundle: PageBundle) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  if (deps.page === undefined) return reply.code(503).type('text/plain; charset=utf-8').send(NOT_BUILT);
  const payment = await findPayment(deps, request);
  const { status, tokenAsset } = payment;
  if (status !== 'succeeded' || tokenAsset === null) {
    return reply.redirect(plainUrl(deps.config.publicUrl, payment.id), 303);
  }
  return send({ ...payment, tokenAsset }, deps.page);
}

interface PdfInput {
  readonly payment: PaidPayment;
  readonly bundle: PageBundle;
}

async function sendPdf(
  deps: HttpDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { payment, bundle }: PdfInput,
): Promise<FastifyReply> {
  const size = sizeIn(request);
  const merchant = await deps.merchants.get(payment.merchantId);
  const brand = pageBrand(deps.config, merchant);
  const [state, logo] = await Promise.all([
    receiptPage(deps, { payment, brand, language: languageOf(bundle, request) }),
    merchant?.logoHash ? findLogo(deps.db.sql, merchant.logoHash) : undefined,
  ]);
  const sheet = bundle.renderer.receiptSheet(state);
  const etag = `"${hash('sha256', JSON.stringify([sheet, size, logo?.hash, state.paidAt]), 'base64url').slice(0, 22)}"`;
  reply.headers({ ETag: etag, 'Cache-Control': ASK_AGAIN, Vary: 'Accept-Language' });
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  const job = { sheet, size, logo: logo?.bytes, paidAt: state.paidAt };
  const print = () => deps.press.print(etag, job);
  const known = deps.press.find(etag);
  const bytes = await (known ?? deps.prints.run([addressGroup(request.ip)], print, () => true)).catch(asApiError);
  return reply
    .header('Content-Disposition', `inline; filename="receipt-${state.number}-${size}.pdf"`)
    .type('application/pdf')
    .send(Buffer.from(bytes));
}

function sizeIn({ query }: FastifyRequest): PaperSize {
  const { size = 'a4' } = query as { size?: unknown };
  if (isPaperSize(size)) return size;
  const message = `must be one of ${Object.keys(PAPERS).join(', ')}`;
  throw new ApiError('params_validation', 'The paper size is unknown.', { issues: [{ field: 'size', message }] });
}

function asApiError(error: unknown): never {
  if (!(error instanceof PressError)) throw error;
  throw new ApiError('internal_error', error.message, { status: 503, retryAfterS: 5 });
}

function languageOf({ renderer }: PageBundle, { headers, query }: FastifyRequest) {
  const { lang } = query as { lang?: unknown };
  const asked = typeof lang === 'string' && lang !== '' ? lang : undefined;
  const { locale, dir } = chooseLanguage(renderer, { acceptLanguage: headers['accept-language'], lang: asked });
  return { locale, dir };
}

function sendTrouble(deps: HttpDeps, error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const { status, retryAfterS } = toApiError(error);
  if (deps.page === undefined || status === 400) return errorSender(deps)(error, request, reply);
  if (status >= 500) deps.log.error({ requestId: request.id, err: error }, 'request failed');
  if (retryAfterS !== undefined) reply.header('Retry-After', String(retryAfterS));
  const kind = status === 404 ? 'not_found' : status === 429 ? 'busy' : 'unavailable';
  const state = { kind, ...languageOf(deps.page, request) } as const;
  return sendPage(deps, request, reply.code(status), { state });
}

async function sendPage(
  { page, config }: HttpDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { state, brandSheet }: { readonly state: ReceiptPageState; readonly brandSheet?: string | undefined },
): Promise<FastifyReply> {
  if (page === undefined) return reply.code(503).type('text/plain; charset=utf-8').send(NOT_BUILT);
  const rendered = page.renderer.renderReceipt(state);
  reply.headers(pageHeaders(config)).type('text/html; charset=utf-8');
  const document = renderScriptless(page, { language: state, rendered, assets: page.receipts, brandSheet });
  return sendText(document, request, reply);
}
