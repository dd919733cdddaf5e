import { tokenText } from '../../../chains/amount-text.ts';
import type { Registry } from '../../../chains/registry.ts';
import { isSameAddress } from '../../../domain/addresses/families.ts';
import { difference, type Line } from '../../../domain/books.ts';
import { type ComparedOutgoing, findComparedOutgoing } from '../../../store/money/book-outgoing.ts';
import { positionsOf } from '../../../store/money/books.ts';
import type { Reader } from '../../../store/plumbing/database.ts';
import { outgoingPosition } from './outgoing-position.ts';
import type { PaidEvent } from './paid-event.ts';

/** Compares events of transfers out of our accounts with the stored rows. The returned function lists the problems of an event. */
export async function compareOutgoing(
  db: Reader,
  registry: Registry,
  events: readonly PaidEvent[],
): Promise<(event: PaidEvent) => readonly string[]> {
  const ids = [...new Set(events.map(({ id }) => id))];
  // Outgoing rows are read before book entries. In the other order a transfer could be completed between the two reads, and would look as
  // if it were not booked.
  const rows = ids.length === 0 ? [] : await findComparedOutgoing(db, ids);
  const positions = ids.length === 0 ? new Map<string, Line[]>() : await positionsOf(db, ids);
  const outgoing = new Map(rows.map((row) => [row.id, row]));
  return (event) => {
    const { id } = event;
    const known = outgoing.get(id);
    if (known === undefined) return ['left on chain, and nothing is known of it.'];
    const wrong = differingTerms(event, known);
    if (wrong.length > 0) return [`differs from the chain in its ${wrong.join(', ')}.`];
    if (known.state !== 'paid') return [`has left on chain, and is ${known.state}.`];
    const booked = positions.get(id) ?? [];
    const position = outgoingPosition(known);
    return difference(position, booked).map(({ account }) =>
      misbookedText(registry, known.asset, { account, booked, position }),
    );
  };
}

export function differingTerms(
  event: PaidEvent,
  { asset, amount, recipient }: Pick<ComparedOutgoing, 'asset' | 'amount' | 'recipient'>,
): string[] {
  return [
    ...(event.asset === asset ? [] : ['asset']),
    ...(event.amount === BigInt(amount) ? [] : ['amount']),
    ...(isSameAddress(asset, event.recipient, recipient) ? [] : ['recipient']),
  ];
}

/** Describes a difference on one account, as the end of a sentence. */
export function misbookedText(
  registry: Registry,
  asset: string,
  {
    account,
    booked,
    position,
  }: { readonly account: string; readonly booked: readonly Line[]; readonly position: readonly Line[] },
): string {
  const text = (lines: readonly Line[]) => tokenText(registry, asset, unitsOn(account, lines));
  return `is in the books with ${text(booked)} on ${account} instead of ${text(position)}.`;
}

function unitsOn(account: string, lines: readonly Line[]): bigint {
  return lines.find((line) => line.account === account)?.units ?? 0n;
}
