import type { FastifyReply, FastifyRequest } from 'fastify';
import { pageHeaders } from '../checkout/page-policy.ts';
import { sendText } from '../checkout/static-files.ts';
import type { HttpDeps } from '../deps.ts';
import { renderSitePage, type SitePage } from './site-page.ts';

export type SiteDeps = Pick<HttpDeps, 'config' | 'page' | 'sandbox'>;

/** Answers with a page. The caller has set the status. */
export function sendSitePage(
  { config, page: bundle, sandbox }: SiteDeps,
  { request, reply, page }: { readonly request: FastifyRequest; readonly reply: FastifyReply; readonly page: SitePage },
): Promise<FastifyReply> {
  // The form for buying in the shop ends on the checkout, and browsers apply `form-action` to redirects of a form as well.
  const formAction = page.of === 'shop' ? `'self' ${config.publicUrl}` : "'none'";
  reply.type('text/html; charset=utf-8').headers(pageHeaders(config, { formAction }));
  const frame = { assets: bundle?.site, isSandbox: sandbox !== undefined };
  return sendText(renderSitePage(frame, page), request, reply);
}
