import { findNetwork } from '../../chains/networks.ts';

/** One thing that happened to a payment. */
export interface TimelineEntry {
  readonly at: Date;
  /** The kind, for programs: the type of an event, or `attempt.accepted`, `transaction.broadcast` and the like. */
  readonly what: string;
  /** For the operator. */
  readonly text: string;
  /** For the partner, without internals of the gateway. Undefined if the entry is not the partner's business. */
  readonly partnerText?: string;
  /** Values that everybody may see. */
  readonly evidence: Readonly<Record<string, unknown>>;
  /** Values for the operator alone. */
  readonly internals?: Readonly<Record<string, unknown>>;
}

export function networkName(network: string): string {
  return findNetwork(network)?.name ?? network;
}
