import type { ChainEvent } from '../../../chains/chain-reader.ts';
import type { PayerSide } from '../../../chains/payer-side.ts';
import { spellBytes } from '../../../domain/addresses/families.ts';
import { type SubjectEvent, subjectOfEvent } from '../../event-subject.ts';
import type { SubjectKeyDeps } from '../../subject-keys.ts';

/** An event with its subject's id. */
type Named<Event> = Event & {
  /** The id of the payment or transfer. If this gateway cannot read it, the bytes of the subject in the event. */
  readonly id: string;
  /** True if this gateway could read the id. */
  readonly isNamed: boolean;
};

/** The Collector's report that an item was carried out. */
export type PaidEvent = Named<Extract<ChainEvent, { type: 'paid' }>>;
export type SweptEvent = Named<Extract<ChainEvent, { type: 'swept' }>>;

export function nameEvents<Event extends SubjectEvent>(
  deps: SubjectKeyDeps,
  payerSide: PayerSide,
  events: readonly Event[],
): Named<Event>[] {
  return events.map((event) => {
    const id = subjectOfEvent(deps, payerSide, event);
    return { ...event, id: id ?? spellBytes(payerSide.network.chainId, event.subject), isNamed: id !== undefined };
  });
}

/**
 * True if the event has a seal of this gateway, false if it has another seal. Undefined for events of the first contract releases,
 * which have no seals.
 */
export function hasOwnSeal({ terms, isNamed }: Pick<PaidEvent | SweptEvent, 'terms' | 'isNamed'>): boolean | undefined {
  return terms === undefined ? undefined : isNamed;
}
