import type { FastifyRequest } from 'fastify';
import type { RequestRefundInput } from '../../actions/outgoing/refund/request-refund.ts';
import { isWithinLimits } from '../../domain/role.ts';
import { ApiError } from '../../errors.ts';
import type { HttpDeps } from '../deps.ts';
import { checkPasskey } from './caller.ts';

/**
 * The limits of people. A person of support refunds payments within the limits of the person alone. Refunds of a payment
 * above the limit of the gateway need the passkey again, whoever asks for them. All refunds of the payment count, so that
 * parts do not go around a limit. Keys have neither limit.
 */
export function refundApproval(request: FastifyRequest, deps: HttpDeps): RequestRefundInput['approve'] {
  const { caller } = request;
  if (caller?.via !== 'session') return undefined;
  const { role, refundLimits } = caller.session.person;
  return ({ unit, value }) => {
    const total = { unit, value: value.toString() };
    if (role === 'support' && !isWithinLimits(refundLimits ?? [], total)) {
      throw new ApiError('forbidden', 'This is above the amount that you may refund of one payment.');
    }
    if (!isWithinLimits(deps.config.refundWithoutPasskey, total)) checkPasskey(request, deps);
  };
}
