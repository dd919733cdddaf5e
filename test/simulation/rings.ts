import type { Participant } from './scheduler.ts';

/**
 * The rings for the placer that nodes owe: one after each commit that appended events. A ring before its commit wakes a
 * placer that finds nothing, and the events then wait for the placer's own look.
 */
export interface Rings {
  /** A node has the answer to a commit that appended events. */
  owe(by: Participant): void;
  /** A node rings. */
  ring(by: Participant): void;
  /** Called when nothing of a node runs: every ring must have been made. */
  check(): void;
}

export function createRings(onBroken: (problem: string) => void): Rings {
  const owed = new Map<Participant, number>();
  const add = (by: Participant, count: number) => {
    const sum = (owed.get(by) ?? 0) + count;
    owed.set(by, sum);
    return sum;
  };
  return {
    owe: (by) => void add(by, 1),
    ring: (by) => {
      if (add(by, -1) < 0) onBroken(`${by.name} rang for the placer before its commit`);
    },
    check: () => {
      for (const [by, count] of owed) {
        if (by.isAlive && count > 0) onBroken(`${by.name} did not ring for the placer after its commit`);
      }
    },
  };
}
