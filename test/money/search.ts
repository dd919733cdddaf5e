import { seeded } from '../simulation/seeded.ts';
import { ACTS, after } from './acts.ts';
import { faultIn, stuckIn } from './oracle.ts';
import { firstWorld, read, type World } from './world.ts';

export interface Found {
  readonly sequence: readonly string[];
  readonly fault: string;
}

export interface Searched {
  /** Sequences that were checked at their end, and brought to a close. */
  readonly sequences: number;
  /** Sequences whose last act could do nothing: they are the shorter sequence. */
  readonly idle: number;
  readonly faults: readonly Found[];
}

const NAMES = Object.keys(ACTS);
/** Faults that are kept. More of them say nothing new. */
const MAX_FAULTS = 5;

/** All sequences of acts up to a length. `first` limits the search to those that begin with one of these acts. */
export function searchAll(length: number, first: readonly string[] = NAMES): Searched {
  const tally = { sequences: 0, idle: 0, faults: [] as Found[] };
  const walk = (world: World, sequence: readonly string[]) => {
    for (const name of sequence.length === 0 ? first : NAMES) {
      if (tally.faults.length >= MAX_FAULTS) return;
      const next = checked(world, [...sequence, name], tally);
      if (next !== undefined && sequence.length + 1 < length) walk(next, [...sequence, name]);
    }
  };
  walk(read(firstWorld()), []);
  return tally;
}

/** Random sequences by a seed. */
export function searchRandom(count: number, length: number, seed: number): Searched {
  const tally = { sequences: 0, idle: 0, faults: [] as Found[] };
  const random = seeded(seed, 'small world');
  for (let number = 0; number < count && tally.faults.length < MAX_FAULTS; number += 1) {
    const sequence = Array.from({ length }, () => random.pick(NAMES));
    walkOne(sequence, tally);
  }
  return tally;
}

/** One sequence, checked after every act and brought to a close at its end. */
function walkOne(sequence: readonly string[], tally: Tally): void {
  let world = read(firstWorld());
  tally.sequences += 1;
  const fault = attempt(
    sequence,
    () => {
      for (const name of sequence) {
        const next = after(world, name);
        const wrong = next === world ? undefined : faultIn(next, world);
        if (wrong !== undefined) return wrong;
        world = next;
      }
      return stuckIn(world);
    },
    tally,
  );
  if (fault !== undefined) tally.faults.push({ sequence, fault });
}

type Tally = { sequences: number; idle: number; faults: Found[] };

/** The world after the last act of the sequence. Undefined if it cannot be followed further. */
function checked(world: World, sequence: readonly string[], tally: Tally): World | undefined {
  const next = attempt(sequence, () => after(world, sequence.at(-1) ?? ''), tally);
  if (next === undefined) return undefined;
  if (next === world) {
    tally.idle += 1;
    return undefined;
  }
  tally.sequences += 1;
  const fault = attempt(sequence, () => faultIn(next, world) ?? stuckIn(next), tally);
  if (fault === undefined) return next;
  tally.faults.push({ sequence, fault });
  return undefined;
}

/** An exception is a fault, too. */
function attempt<T>(sequence: readonly string[], work: () => T, tally: Tally): T | undefined {
  try {
    return work();
  } catch (error) {
    tally.faults.push({ sequence, fault: String(error instanceof Error ? error.stack : error) });
    return undefined;
  }
}
