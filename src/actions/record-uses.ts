import type { Clock } from '../runtime/world.ts';
import type { Tx } from '../store/plumbing/database.ts';
import { type CommandDeps, command } from './command.ts';

/** Records when API keys or sessions were last used. */
export interface UseRecorder {
  /** Notes a use in memory. The uses are written later, for all ids at once. */
  note(id: string): void;
  /** Writes all noted uses. Always returns false, because one run writes all of them. */
  flush(deps: CommandDeps): Promise<boolean>;
}

export function createUseRecorder(
  clock: Clock,
  write: (tx: Tx, uses: ReadonlyMap<string, Date>) => Promise<void>,
): UseRecorder {
  let uses = new Map<string, number>();
  return {
    note: (id) => void uses.set(id, clock.nowMs()),
    async flush(deps) {
      if (uses.size === 0) return false;
      const written = uses;
      uses = new Map();
      const times = new Map([...written].map(([id, atMs]) => [id, new Date(atMs)]));
      try {
        await command(deps, (tx) => write(tx, times));
      } catch (error) {
        // The next run writes these uses, so none is lost in an outage. A newer use of the same id replaces the older one.
        uses = new Map([...written, ...uses]);
        throw error;
      }
      return false;
    },
  };
}
