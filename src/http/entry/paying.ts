import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PaymentWork } from '../../runtime/payment-work.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** True while the handler creates or moves a payment. */
    isPaying: boolean;
  }
}

export function beginPaying(paymentWork: PaymentWork) {
  return (request: FastifyRequest, _reply: FastifyReply, done: () => void): void => {
    request.isPaying = true;
    paymentWork.begin();
    done();
  };
}

/** Ends the payment work of a request. Called when the handler has ended, or waits for something outside of this node. */
export function endPaying(paymentWork: PaymentWork, request: FastifyRequest): void {
  if (!request.isPaying) return;
  request.isPaying = false;
  paymentWork.end();
}
