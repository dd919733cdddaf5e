import { isFinal, type PaymentStatus } from '../../src/domain/payment.ts';
import type { Payer, SimMerchant } from './parties.ts';
import { type Answer, type Asking, request } from './requests.ts';
import type { Participant } from './scheduler.ts';
import type { Seeded } from './seeded.ts';
import { type Stage, Violation } from './stage.ts';

/** A shop and its payer, with everything that their requests need. */
export interface Shopping {
  readonly stage: Stage;
  readonly by: Participant;
  readonly random: Seeded;
  readonly payer: Payer;
  readonly merchant: SimMerchant;
  readonly headers: Record<string, string>;
  /** True if the payer wants what everybody wants now. */
  readonly isInRush: boolean;
}

export function openShopping(stage: Stage, name: string): Shopping {
  const random = stage.random.fork(name);
  const merchant = random.pick(stage.merchants);
  const key = random.pick(stage.keys);
  const headers = { 'api-key': key.secret, 'merchant-id': merchant.id, 'content-type': 'application/json' };
  const payer = random.pick(stage.payers);
  return { stage, by: stage.newClient(name), random, payer, merchant, headers, isInRush: false };
}

/** Payers in a rush act in the same moments. */
const MOMENT_MS = 4_000;

/** Clients of a short run do everything in less time. */
export function rest({ stage, by, isInRush }: Shopping, ms: number): Promise<void> {
  const { scheduler, pace } = stage;
  return scheduler.sleep(by, isInRush ? MOMENT_MS - (scheduler.nowMs() % MOMENT_MS) : Math.round(ms * pace));
}

/** A request about a payment, whose status in the answer is checked. */
export async function ask(
  { stage, by, random, headers }: Shopping,
  paymentId: string,
  options: Asking,
): Promise<Answer | undefined> {
  const answer = await request(stage, by, random, { headers, ...options });
  if (answer?.status === 200) await noteStatus(stage, paymentId, answer.body?.status);
  return answer;
}

/** Checks what a client was told about a payment at the moment it is told. */
async function noteStatus(stage: Stage, paymentId: string, status: unknown): Promise<void> {
  if (typeof status !== 'string' || !isFinal(status as PaymentStatus)) return;
  const before = stage.reported.get(paymentId);
  if (before !== undefined && before.status !== status) {
    throw new Violation('answers stay true', `${paymentId} was told to be ${before.status}, then ${status}`);
  }
  stage.reported.set(paymentId, { status, step: stage.scheduler.steps() });
  if (status === 'succeeded' && !(await stage.isPaidOnChain(paymentId))) {
    throw new Violation('answers are true', `${paymentId} was told to have succeeded without a transfer on the chain`);
  }
}
