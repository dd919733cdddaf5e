import assert from 'node:assert/strict';
import { eventsPlaced } from '../events-placed.ts';
import { PLACES } from './money-places.ts';
import { openWorld, type Told, WAYS, type Way } from './money-ways.ts';

interface Row {
  readonly way: Way;
  /** By place; undefined where a place has nothing of the payment. */
  readonly told: ReadonlyMap<string, Told | null>;
}

/** Every way and what every place says of it. */
export async function tellStories(): Promise<Row[]> {
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
      const told = new Map<string, Told | null>();
      for (const [name, place] of Object.entries(PLACES)) told.set(name, await place(world, id, read));
      rows.push({ way, told });
    } finally {
      await world.close();
    }
  }
  return rows;
}

/** The cells that tell another story than their row. */
export function disagreements(rows: readonly Row[]): string[] {
  return rows.flatMap(({ way, told }) =>
    [...told].flatMap(([place, said]) => {
      const expected = textOf(expectedAt(place, way));
      if (said === null || textOf(said) === expected) return [];
      return [`${way.name}, ${place}: ${textOf(said)} in place of ${expected}`];
    }),
  );
}

export const textOf = (told: Told | null) =>
  told === null ? '' : `${told.paid}${told.late.map((late) => ` + ${late}`).join('')}`;

/** The export has no reasons. */
function expectedAt(place: string, { paid, late }: Told): Told {
  return { paid, late: place === 'export' ? late.map((each) => each.split(' ')[1] ?? '').sort() : [...late].sort() };
}
