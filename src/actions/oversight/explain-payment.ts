import type { Chains } from '../../chains/chains.ts';
import type { RegistryDeps } from '../../chains/registry.ts';
import type { PaymentStatus } from '../../domain/payment.ts';
import { waitOf } from '../../domain/wait.ts';
import type { Wait } from '../../domain/wait-words.ts';
import type { Clock } from '../../runtime/world.ts';
import type { Payment } from '../../store/payments/payments.ts';
import type { Reader } from '../../store/plumbing/database.ts';
import type { RelaySettings } from '../relay/relayer.ts';
import { readHistory } from './history.ts';
import { type Timeline, timelineOf } from './timeline.ts';
import { gatherFacts } from './wait-facts.ts';

export interface ExplainInput {
  readonly payment: Payment;
  /** The reader of the explanation. Readers other than operators see no internals, and cause no call to a chain. */
  readonly audience: 'operator' | Outsider;
  readonly limit: number;
}

export interface Outsider {
  /** True for webhook endpoints that the reader may see. */
  readonly seesEndpoint: (endpointId: string) => boolean;
}

export interface ExplainDeps extends RegistryDeps {
  readonly db: Reader;
  readonly clock: Clock;
  readonly chains: Chains;
  readonly relaying: RelaySettings;
}

export interface Explanation extends Timeline {
  /** The status as clients see it. */
  readonly status: PaymentStatus;
  /** Undefined if the payment waits for nothing. */
  readonly wait: Wait | undefined;
}

/** Explains what happened to a payment, and why it waits. Read-only. */
export async function explainPayment(
  { db, registry, clock, chains, relaying }: ExplainDeps,
  { payment, audience, limit }: ExplainInput,
): Promise<Explanation> {
  const isOperator = audience === 'operator';
  const whole = await readHistory(db, payment, limit);
  const history = isOperator
    ? whole
    : { ...whole, deliveries: whole.deliveries.filter(({ endpointId }) => audience.seesEndpoint(endpointId)) };
  const facts = await gatherFacts({ db, registry, clock, chains, settings: relaying, asksChain: isOperator }, history);
  const isWanted = ({ partnerText }: { partnerText?: string }) => isOperator || partnerText !== undefined;
  return { ...timelineOf(history, registry, { limit, isWanted }), status: facts.status, wait: waitOf(facts) };
}
