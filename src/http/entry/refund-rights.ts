import type { FastifyRequest } from 'fastify';
import { isWithinLimits, type RefundLimit } from '../../domain/role.ts';
import { ApiError } from '../../errors.ts';
import type { HttpDeps } from '../deps.ts';
import { checkPasskey, merchantOf } from './access.ts';

/**
 * A person of support refunds payments within the limits of the person alone. A refund above the limit of the gateway needs
 * the passkey again, whoever asks for it. Keys have neither limit.
 */
export async function checkRefundRights(deps: HttpDeps, request: FastifyRequest, paymentId: string): Promise<void> {
  const { caller } = request;
  if (caller?.via !== 'session') return;
  const payment = await deps.readPayment(paymentId);
  // The refund itself is refused for it.
  if (payment === undefined || payment.merchantId !== merchantOf(request).id) return;
  const price: RefundLimit = { unit: payment.amountUnit, value: payment.amountValue };
  const { role, refundLimits } = caller.session.person;
  if (role === 'support' && !isWithinLimits(refundLimits ?? [], price)) {
    throw new ApiError('forbidden', 'This payment is above the amount that you may refund.');
  }
  if (!isWithinLimits(deps.config.refundWithoutPasskey, price)) checkPasskey(request, deps);
}
