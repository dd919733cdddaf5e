import type { CommandDeps } from '../../src/actions/command.ts';
import { changeMerchant } from '../../src/actions/parties/change-merchant.ts';
import { freeze, unfreeze } from '../../src/actions/parties/freeze.ts';
import type { RowKeyDeps } from '../../src/actions/row-keys.ts';

interface Stopped {
  readonly merchantId: string;
  readonly partnerId: string;
}

/** A way in which an operator stops the money of a merchant, and lets it go on. */
interface WayToStop {
  readonly name: string;
  stop(deps: CommandDeps & RowKeyDeps, stopped: Stopped): Promise<unknown>;
  release(deps: CommandDeps & RowKeyDeps, stopped: Stopped): Promise<unknown>;
}

const BY = { actor: 'operator', reason: 'key stolen' };

export const WAYS_TO_STOP: readonly WayToStop[] = [
  {
    name: 'suspended',
    stop: (deps, { merchantId }) =>
      changeMerchant(deps, { owner: null, actor: 'operator', merchantId, changes: { status: 'suspended' } }),
    release: (deps, { merchantId }) =>
      changeMerchant(deps, { owner: null, actor: 'operator', merchantId, changes: { status: 'active' } }),
  },
  {
    name: 'frozen',
    stop: (deps, { merchantId }) => freeze(deps, { scope: 'merchant', subject: merchantId, ...BY }),
    release: (deps, { merchantId }) => unfreeze(deps, { scope: 'merchant', subject: merchantId, ...BY }),
  },
  {
    name: 'frozen with its partner',
    stop: (deps, { partnerId }) => freeze(deps, { scope: 'partner', subject: partnerId, ...BY }),
    release: (deps, { partnerId }) => unfreeze(deps, { scope: 'partner', subject: partnerId, ...BY }),
  },
];
