import type { ChainEvent } from '../../../chains/chain-reader.ts';
import type { PayerSide } from '../../../chains/payer-side.ts';
import { type SubjectEvent, subjectOfEvent } from '../../event-subject.ts';
import type { SubjectKeyDeps } from '../../subject-keys.ts';

/** An event with its subject's id. If the event has no seal of this gateway, the id is the subject's bytes with 0x in front. */
type Named<Event> = Event & { readonly id: string };

/** The Collector's report that an item was carried out. */
export type PaidEvent = Named<Extract<ChainEvent, { type: 'paid' }>>;
export type SweptEvent = Named<Extract<ChainEvent, { type: 'swept' }>>;

export function nameEvents<Event extends SubjectEvent>(
  deps: SubjectKeyDeps,
  payerSide: PayerSide,
  events: readonly Event[],
): Named<Event>[] {
  return events.map((event) => ({ ...event, id: subjectOfEvent(deps, payerSide, event) ?? `0x${event.subject}` }));
}

/**
 * True if the event has a seal of this gateway, false if it has another seal. Undefined for the first releases, which have no
 * seals.
 */
export function hasOwnSeal({ terms, id }: Pick<PaidEvent | SweptEvent, 'terms' | 'id'>): boolean | undefined {
  return terms === undefined ? undefined : !id.startsWith('0x');
}
