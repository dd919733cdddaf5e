import type { CommandDeps } from '../../command.ts';
import { adoptDestinations, adoptHistory } from '../../parties/destination-rows.ts';
import { adoptFreezes } from '../../parties/freeze-heads.ts';
import { adoptKeys } from '../../parties/key-rows.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { adoptOutgoing } from './adopt-outgoing.ts';

/** Writes the MACs of rows of an older version, before any code relies on them. */
export async function adoptRows(deps: CommandDeps & RowKeyDeps): Promise<void> {
  await adoptOutgoing(deps);
  await adoptDestinations(deps);
  await adoptHistory(deps);
  await adoptKeys(deps);
  await adoptFreezes(deps);
}
