import { type Tracing, traced } from '../../runtime/tracing.ts';
import type { CreatedPayment, PaymentOrder } from './create-payment.ts';
import type { PaymentMover } from './payment-mover.ts';

interface PaymentActions {
  readonly createPayment: (order: PaymentOrder) => Promise<CreatedPayment>;
  readonly movePayment: PaymentMover;
}

/** The two actions that most requests wait for, each in a span. The root of a payment's trace is recorded when the payment is created. */
export function tracedPayments(tracing: Tracing | undefined, actions: PaymentActions): PaymentActions {
  if (tracing === undefined) return actions;
  const create = async (order: PaymentOrder) => {
    const created = await actions.createPayment(order);
    if (!created.isReplayed) tracing.notePayment(created.id);
    return created;
  };
  return {
    createPayment: traced(tracing, create, () => ({
      name: 'create-payment',
      about: { kind: 'internal', place: 'child' },
    })),
    movePayment: traced(tracing, actions.movePayment, ({ paymentId }) => ({
      name: 'move-payment',
      about: { kind: 'internal', place: 'child', payments: [paymentId] },
    })),
  };
}
