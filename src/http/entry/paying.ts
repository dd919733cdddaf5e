import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PaymentWork } from '../../runtime/payment-work.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Its handler creates or moves a payment, and is at work. */
    isPaying: boolean;
  }
}

/** Runs before the handler. */
export function beginPaying(paymentWork: PaymentWork) {
  return (request: FastifyRequest, _reply: FastifyReply, done: () => void): void => {
    request.isPaying = true;
    paymentWork.begin();
    done();
  };
}

/** The handler is at its end, or waits for something else than this node. */
export function endPaying(paymentWork: PaymentWork, request: FastifyRequest): void {
  if (!request.isPaying) return;
  request.isPaying = false;
  paymentWork.end();
}
