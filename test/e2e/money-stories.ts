import assert from 'node:assert/strict';
import { eventsPlaced } from '../events-placed.ts';
import { PLACES } from './money-places.ts';
import { openWorld, type Report, WAYS, type Way } from './money-ways.ts';

interface Row {
  readonly way: Way;
  /** By place; undefined where a place has nothing of the payment. */
  readonly reports: ReadonlyMap<string, Report | null>;
}

/** Every way and what every place says of it. */
export async function collectStories(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const way of WAYS) {
    const world = await openWorld();
    try {
      const id = await way.happen(world);
      await eventsPlaced(world.gateway);
      const read = async (url: string) => {
        const { statusCode, body, json } = await world.gateway.call({ url, headers: world.headers });
        assert.equal(statusCode, 200, `${url}: ${body}`);
        return json();
      };
      const reports = new Map<string, Report | null>();
      for (const [name, place] of Object.entries(PLACES)) reports.set(name, await place(world, id, read));
      rows.push({ way, reports });
    } finally {
      await world.close();
    }
  }
  return rows;
}

/** The cells that tell another story than their row. */
export function disagreements(rows: readonly Row[]): string[] {
  return rows.flatMap(({ way, reports }) =>
    [...reports].flatMap(([place, report]) => {
      const expected = textOf(expectedAt(place, way));
      // A payment that was not paid has no receipt, and nothing else is without a report.
      if (textOf(report) === expected || (report === null && way.paid === '-')) return [];
      return [`${way.name}, ${place}: ${textOf(report) || 'nothing'} in place of ${expected}`];
    }),
  );
}

export const textOf = (reports: Report | null) =>
  reports === null
    ? ''
    : `${reports.paid}${reports.late.map((late) => ` + ${late}`).join('')}${reports.back === undefined ? '' : `, ${reports.back}`}`;

/** Exports of the books have no reasons, a settlement has no late money, and no line of an export says how it comes back. */
function expectedAt(place: string, { paid, late, back = 'unclaimed' }: Report): Report {
  if (place === 'settlement' || late.length === 0) return { paid, late: [] };
  if (place === 'export of payments') return { paid, late: [...late].sort() };
  if (place === 'export' || place === 'books')
    return { paid, late: late.map((each) => each.split(' ')[1] ?? '').sort() };
  return { paid, late: [...late].sort(), back };
}
