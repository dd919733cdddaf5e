import { call } from '../calls.ts';
import type { Facilitator } from './facilitator.ts';
import type { PeerPayment } from './payload.ts';

/** The facilitator's answer about a payment: verified and settled, or not. */
export interface PeerAnswer {
  readonly success?: boolean;
  readonly transaction?: string;
}

export async function settlePeerPayment({ port }: Facilitator, payment: PeerPayment): Promise<PeerAnswer> {
  const headers = { 'Content-Type': 'application/json' };
  const { text } = await call({ port, method: 'POST', path: '/', headers, body: JSON.stringify(payment) });
  return JSON.parse(text) as PeerAnswer;
}
