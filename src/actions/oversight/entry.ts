import type { Registry } from '../../chains/registry.ts';

export interface TimelineEntry {
  readonly at: Date;
  /** The kind, for programs: the type of an event, or for example `attempt.accepted`, `transaction.broadcast`. */
  readonly what: string;
  /** The text that the operator sees. */
  readonly text: string;
  /** The text that the partner sees, without internals of the gateway. Undefined if the entry does not concern the partner. */
  readonly partnerText?: string;
  /** Values that everybody may see. */
  readonly evidence: Readonly<Record<string, unknown>>;
  /** Values for the operator alone. */
  readonly internals?: Readonly<Record<string, unknown>>;
}

export function networkName(registry: Registry, network: string): string {
  return registry.network(network)?.name ?? network;
}
