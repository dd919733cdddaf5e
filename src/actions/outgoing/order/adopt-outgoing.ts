import { adoptOnce } from '../../adopt-once.ts';
import type { CommandDeps } from '../../command.ts';
import { within } from '../../renew-macs.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { renewOutgoingMacs } from './order-outgoing.ts';

export function adoptOutgoing(deps: CommandDeps & RowKeyDeps): Promise<void> {
  return adoptOnce(deps, 'outgoing', (tx, now) =>
    renewOutgoingMacs(within(tx), deps, { isTrusted: ({ mac }) => mac === null, now }),
  );
}
