import { visibleStatus } from '../../domain/payment.ts';
import { ApiError } from '../../errors.ts';
import type { Clock } from '../../runtime/world.ts';
import { stateOf } from '../../store/payments/payments.ts';
import type { PaymentMover } from './payment-mover.ts';

export interface CancelInput {
  readonly paymentId: string;
  readonly by: 'merchant' | 'user';
  readonly actor: string;
}

/** Cancels a payment and returns the result, for merchants and payers. */
export async function cancelPayment(
  deps: { readonly movePayment: PaymentMover; readonly world: { readonly clock: Clock } },
  { paymentId, by, actor }: CancelInput,
) {
  const outcome = await deps.movePayment({ paymentId, event: { type: 'cancelled', by }, actor, evidence: { by } });
  if (!outcome.ok) {
    const status = outcome.payment && visibleStatus(stateOf(outcome.payment), deps.world.clock.nowMs());
    throw new ApiError('invalid_state', `The payment cannot be cancelled: it is ${status}.`);
  }
  return {
    paymentId,
    status: outcome.payment.status,
    cancelledReason: `cancelled_by_${by}` as const,
    cancelledAt: outcome.payment.updatedAt.toISOString(),
  };
}
