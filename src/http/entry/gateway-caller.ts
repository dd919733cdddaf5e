import type { FastifyRequest } from 'fastify';
import type { PaymentReader } from '../../store/payments/payment-reader.ts';
import type { PaymentGlance } from '../../store/payments/payments.ts';
import type { HttpDeps } from '../deps.ts';
import { paymentNotFound } from '../routes/payments.ts';
import { actorOf } from './caller.ts';
import { headerOf } from './headers.ts';
import { paymentIdIn } from './payment-id.ts';

/** The access of wallets and of the checkout. The unguessable payment id is their capability. */
export const GATEWAY_ACCESS = { scheme: 'gateway', scope: 'gateway' } as const;

/** The payment in the path, if it has the caller's mode. */
export async function findPayable<Row extends PaymentGlance>(
  { config }: HttpDeps,
  read: PaymentReader<Row>,
  request: FastifyRequest<{ Params: { id: string } }>,
): Promise<Row> {
  const id = paymentIdIn(request.params.id, config.publicUrl);
  const payment = id === undefined ? undefined : await read(id);
  if (payment === undefined || payment.mode !== request.caller?.mode) throw paymentNotFound();
  return payment;
}

/** The caller's name in the history of a payment. */
export function callerName(request: FastifyRequest): string {
  const { caller } = request;
  return caller?.via === 'app' ? `app:${caller.app.id}` : actorOf(request);
}

/** The wallet name and icon that the merchant sees. */
export function walletOf(request: FastifyRequest): { readonly name: string; readonly icon: string | null } {
  const { caller } = request;
  if (caller?.via === 'app') return { name: caller.app.name, icon: caller.app.iconUrl };
  const label = caller?.via === 'key' ? caller.key.label : '';
  return { name: label || headerOf(request, 'sdk-name') || 'Wallet', icon: null };
}

/** Clients, by their `Sdk-Name`, that carry out the first listed option and never call the route `/payment/:id/fetch`. */
const WITHOUT_FETCH: readonly string[] = ['@walletconnect/pay-cli'];

export function isWithoutFetch(request: FastifyRequest): boolean {
  return WITHOUT_FETCH.includes(headerOf(request, 'sdk-name') ?? '');
}
