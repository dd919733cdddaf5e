import { markDecided, putEvents } from '../../../store/chain/chain-events.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { storedEvent } from '../../watch/read-events.ts';
import type { PaidEvent } from '../audit/paid-event.ts';

export type Outcome = 'rebuilt' | 'intact';

/** An event that cannot be restored with the rows at hand. The message completes a sentence about it. */
export class Unplaced extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = 'Unplaced';
  }
}

/** Stores the event as decided. */
export async function noteEvent(tx: Tx, event: PaidEvent, at: Date): Promise<void> {
  const [network = ''] = event.asset.split('/');
  const stored = storedEvent(event);
  await putEvents(tx, network, [stored], at);
  await markDecided(tx, network, [{ ...stored, problem: null }], at);
}

/** The evidence of a move that `rebuild` makes. */
export function evidenceOf({ commitment, block }: PaidEvent) {
  return { rebuilt: true, commitment, block: block.number };
}

/** CAIP-10. */
export function accountOf({ asset, payer }: PaidEvent): string {
  return `${asset.split('/')[0]}:${payer}`;
}
