import { refuseOtherSecret } from '../actions/open-receipt-key.ts';
import { rowKeysOf } from '../actions/row-keys.ts';
import type { KeyRing } from '../domain/key-ring.ts';
import { openSecrets } from '../settings/master-secret.ts';
import type { OperatorDeps } from './connect.ts';

/** The keys of a command that orders transfers. Nodes would refuse an order under another master secret. */
export async function openRowKeys(deps: OperatorDeps): Promise<KeyRing> {
  const secrets = await openSecrets(deps);
  await refuseOtherSecret({ ...deps, secrets });
  return rowKeysOf(secrets);
}
