import type { FastifyReply, FastifyRequest } from 'fastify';
import type { LinkPageState } from '../../../web/src/links/page-state.ts';
import { linkNotFound } from '../../actions/paying/links/change-link.ts';
import { parseUnit, type Unit } from '../../chains/units.ts';
import type { AcceptedAssets } from '../../domain/accepted-assets.ts';
import { isId } from '../../domain/ids.ts';
import { amountFor, closedReason, type LinkPrice } from '../../domain/payment-link.ts';
import { ApiError } from '../../errors.ts';
import type { PayableMerchant } from '../../store/parties/merchants.ts';
import { findLink, type PaymentLink } from '../../store/payments/payment-links.ts';
import { pageHeaders } from '../checkout/page-policy.ts';
import { chooseLanguage } from '../checkout/page-state.ts';
import { renderScriptless } from '../checkout/scriptless-document.ts';
import { sendText } from '../checkout/static-files.ts';
import type { App, HttpDeps } from '../deps.ts';
import { gatewayUrl } from '../entry/payment-id.ts';
import { checkPrice } from '../entry/price.ts';
import { addressGroup } from '../entry/rate-limit.ts';
import { toApiError } from '../errors.ts';
import { pageBrand } from '../views/brand.ts';
import { LINK_PATH, viewLink } from '../views/payment-link.ts';

const NOT_BUILT = 'The page of payment links has not been built. Run: npm run build';
/** The most bytes of the form, which has only an amount and a random text. */
const MAX_FORM_BYTES = 4_096;
const PAYMENT_LIFETIME_S = 15 * 60;
const ONCE_BYTES = 16;
const ONCE = /^[\w-]{22}$/;

/**
 * The page of a payment link. Opening it creates nothing, because programs open links to preview them. Its form creates an
 * ordinary payment, and redirects to the checkout.
 */
export async function linkPageRoutes(app: App, deps: HttpDeps): Promise<void> {
  await app.register(async (scope: App) => {
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: MAX_FORM_BYTES },
      (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
    );
    const page = {
      schema: { hide: true },
      errorHandler: (error: unknown, request: FastifyRequest, reply: FastifyReply) =>
        sendTrouble(deps, error, request, reply),
    };
    const url = `${LINK_PATH}:id`;
    scope.get(url, { ...page, config: { priority: 'normal' } }, async (request, reply) =>
      sendLink(deps, request, reply, await openLink(deps, request)),
    );
    scope.post(url, { ...page, config: { priority: 'money' } }, (request, reply) => order(deps, request, reply));
  });
}

interface OpenedLink {
  readonly link: PaymentLink;
  readonly merchant: PayableMerchant;
  readonly closed: Extract<LinkPageState, { kind: 'link' }>['closed'];
}

async function openLink(deps: HttpDeps, request: FastifyRequest): Promise<OpenedLink> {
  const id = `plk_${(request.params as { id: string }).id}`;
  const link = isId('plk_', id) ? await findLink(deps.db.sql, id) : undefined;
  const merchant = link && (await deps.merchants.get(link.merchantId));
  if (link === undefined || merchant === undefined || merchant.deletedAt !== null) throw linkNotFound();
  const isMerchantClosed = merchant.status !== 'active' || merchant.isStopped;
  const reason = closedReason(link, deps.world.clock.nowMs()) ?? (isMerchantClosed ? 'merchant' : null);
  return { link, merchant, closed: reason };
}

async function order(deps: HttpDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const opened = await openLink(deps, request);
  const { link, merchant, closed } = opened;
  if (closed !== null) return sendLink(deps, request, reply.code(409), opened);
  const typed = fieldOf(request, 'amount') ?? '';
  const value = amountFor(priceOf(link), typed, link.amountDecimals);
  const unit = parseUnit(deps.registry, link.amountUnit);
  if (value === undefined) return sendLink(deps, request, reply.code(422), opened, typed);
  // If `accepted` is undefined, the link can no longer create a payment: the asset is no longer offered or accepted, or the fees
  // have risen above the price. The shop must make another link.
  const accepted = unit.ok ? acceptedIfTaken(deps, { opened, unit: unit.value, value }) : undefined;
  if (!unit.ok || accepted === undefined) {
    return sendLink(deps, request, reply.code(409), { ...opened, closed: 'inactive' });
  }
  const once = fieldOf(request, 'once') ?? '';
  const create = () =>
    deps
      .createPayment({
        merchant,
        referenceId: link.referenceId,
        amountUnit: link.amountUnit,
        amountValue: value.toString(),
        amountDecimals: link.amountDecimals,
        tokenAsset: unit.value.token?.asset ?? null,
        expiresAtMs: (Math.floor(deps.world.clock.nowMs() / 1000) + PAYMENT_LIFETIME_S) * 1000,
        successUrl: null,
        errorUrl: null,
        actor: `link:${link.id}`,
        linkId: link.id,
        acceptedAssets: accepted,
        details: { description: link.description, metadata: { paymentLinkId: link.id } },
        // The line break makes this key different from every Idempotency-Key of the merchant, which cannot contain one.
        idempotency: ONCE.test(once) ? { key: `link\n${link.id} ${once} ${value}`, meaning: [link.id] } : null,
      })
      .catch(unlessStopped);
  const names = [`${link.id} ${addressGroup(request.ip)}`];
  const created = await deps.linkOrders.run(
    names,
    create,
    (outcome) => 'result' in outcome && outcome.result?.isReplayed === false,
  );
  if (created === undefined) return sendLink(deps, request, reply.code(409), { ...opened, closed: 'merchant' });
  // True if the payer has returned to an old form, whose payment is over. A new form makes a new payment.
  const isOver = created.isReplayed && ['expired', 'cancelled', 'failed'].includes(created.status);
  const lang = langIn(request);
  const query = lang === undefined ? '' : `lang=${encodeURIComponent(lang)}`;
  if (isOver) return reply.redirect(`${request.url.split('?', 1)[0]}${query === '' ? '' : `?${query}`}`, 303);
  return reply.redirect(`${gatewayUrl(deps.config.publicUrl, created.id)}${query === '' ? '' : `&${query}`}`, 303);
}

function priceOf({ amountValue, minimumValue, maximumValue }: PaymentLink): LinkPrice {
  if (amountValue !== null) return { value: BigInt(amountValue) };
  return { minimum: BigInt(minimumValue ?? 0), maximum: BigInt(maximumValue ?? 0) };
}

/** The assets that a payment of this price accepts. Undefined if no such payment can be created. */
function acceptedIfTaken(
  deps: HttpDeps,
  { opened: { link, merchant }, unit, value }: { opened: OpenedLink; unit: Unit; value: bigint },
): AcceptedAssets | undefined {
  const { mode, acceptedAssets, stock } = link;
  const own = { of: 'link', accepted: acceptedAssets } as const;
  try {
    return checkPrice(deps, { mode, merchant, unit, value, field: 'amount', own, takesCoin: stock === null });
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** Returns undefined if the merchant was stopped or deleted after we read it. Rethrows every other error. */
function unlessStopped(error: unknown): undefined {
  if (error instanceof ApiError && (error.code === 'forbidden' || error.code === 'merchant_not_found'))
    return undefined;
  throw error;
}

function sendLink(
  deps: HttpDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { link, merchant, closed }: OpenedLink,
  refused: string | null = null,
): Promise<FastifyReply> {
  const { description, amount, minimum, maximum, stock, taken, pictureUrl } = viewLink(deps.config, link);
  const { logoUrl: iconUrl, sheet, showsPoweredBy } = pageBrand(deps.config, merchant);
  const shown = {
    kind: 'link' as const,
    isSandbox: deps.sandbox !== undefined && link.mode === 'test',
    hidesPoweredBy: !showsPoweredBy,
    merchant: { name: merchant.name, iconUrl },
    description,
    pictureUrl,
    amount,
    minimum,
    maximum,
    left: stock === null ? null : Math.max(0, stock - (taken ?? 0)),
    closed,
    form: {
      action: request.url,
      once: Buffer.from(deps.world.random.bytes(ONCE_BYTES)).toString('base64url'),
      refused,
    },
  };
  return sendPage(deps, request, reply, { shown, sheet });
}

function sendTrouble(deps: HttpDeps, error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const { status, retryAfterS } = toApiError(error);
  if (status >= 500) deps.log.error({ requestId: request.id, err: error }, 'request failed');
  if (retryAfterS !== undefined) reply.header('Retry-After', String(retryAfterS));
  const kind = status === 404 ? 'not_found' : status === 429 ? 'busy' : 'unavailable';
  return sendPage(deps, request, reply.code(status), { shown: { kind } });
}

type Shown<State> = State extends LinkPageState ? Omit<State, 'locale' | 'dir'> : never;

async function sendPage(
  { page, config }: HttpDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { shown, sheet }: { readonly shown: Shown<LinkPageState>; readonly sheet?: string | undefined },
): Promise<FastifyReply> {
  if (page === undefined) return reply.code(503).type('text/plain; charset=utf-8').send(NOT_BUILT);
  const { locale, dir } = chooseLanguage(page.renderer, {
    acceptLanguage: request.headers['accept-language'],
    lang: langIn(request),
  });
  // The form's redirect ends on the checkout, and browsers apply `form-action` to redirects of a form as well.
  reply.headers(pageHeaders(config, { formAction: `'self' ${config.publicUrl}` })).type('text/html; charset=utf-8');
  const language = { locale, dir };
  const rendered = page.renderer.renderLink({ ...shown, ...language });
  return sendText(
    renderScriptless(page, { language, rendered, assets: page.links, brandSheet: sheet }),
    request,
    reply,
  );
}

function langIn({ query }: FastifyRequest): string | undefined {
  const { lang } = query as { lang?: unknown };
  return typeof lang === 'string' && lang !== '' ? lang : undefined;
}

function fieldOf({ body }: FastifyRequest, name: string): string | undefined {
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, name)) return undefined;
  const value = (body as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' ? value : undefined;
}
