import type { WatchedTable } from './meaning.ts';
import type { Stage } from './stage.ts';

/**
 * A promise of the gateway. `always` holds after every commit, and is checked after those that changed its tables. `atEnd`
 * holds after the faults are over and time has passed. A violation is a sentence about the first case that was found.
 */
export interface Invariant {
  readonly name: string;
  readonly promise: string;
  readonly when: 'always' | 'atEnd';
  /** The tables whose changes can break it, of a promise that always holds. */
  readonly about?: readonly WatchedTable[];
  /** Selects violations, each as a sentence in the column `problem`. All of these are one statement. */
  readonly find?: (sql: Stage['sql']) => ReturnType<Stage['sql']>;
  readonly check?: (stage: Stage) => Promise<string | undefined>;
}
