import type { Clock } from '../../runtime/world.ts';
import { recordKeyUses } from '../../store/parties/api-keys.ts';
import { type CommandDeps, command } from '../command.ts';

export interface KeyUseRecorder {
  /** Costs a map entry. The database is written later, for all keys at once. */
  note(keyId: string): void;
  /** Writes the noted uses. Always returns false: one run writes all. */
  flush(deps: CommandDeps): Promise<boolean>;
}

export function createKeyUseRecorder(clock: Clock): KeyUseRecorder {
  let uses = new Map<string, number>();
  return {
    note: (keyId) => void uses.set(keyId, clock.nowMs()),
    async flush(deps) {
      if (uses.size === 0) return false;
      const written = uses;
      uses = new Map();
      const times = new Map([...written].map(([id, atMs]) => [id, new Date(atMs)]));
      try {
        await command(deps, (tx) => recordKeyUses(tx, times));
      } catch (error) {
        // Nothing noted is lost to an outage, and newer uses win.
        uses = new Map([...written, ...uses]);
        throw error;
      }
      return false;
    },
  };
}
