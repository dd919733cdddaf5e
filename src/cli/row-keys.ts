import { refuseOtherSecret } from '../actions/open-receipt-key.ts';
import { adoptRows } from '../actions/outgoing/order/adopt-rows.ts';
import { rowKeysOf } from '../actions/row-keys.ts';
import { openSubjectKeys } from '../actions/subject-keys.ts';
import type { KeyRing } from '../domain/key-ring.ts';
import { openSecrets } from '../settings/master-secret.ts';
import type { OperatorDeps } from './connect.ts';

/** The keys that decrypt the subjects of events. */
export async function openEventKeys(deps: OperatorDeps): Promise<KeyRing> {
  const secrets = await openSecrets(deps);
  await refuseOtherSecret({ ...deps, secrets });
  return openSubjectKeys({ ...deps, secrets }, { needsAll: true });
}

/**
 * The keys for commands that write rows with a MAC. The master secret is checked first, because nodes refuse rows whose MAC was
 * made with another master secret.
 */
export async function openRowKeys(deps: OperatorDeps): Promise<KeyRing> {
  const secrets = await openSecrets(deps);
  await refuseOtherSecret({ ...deps, secrets });
  const rowKeys = rowKeysOf(secrets);
  await adoptRows({ ...deps, rowKeys });
  return rowKeys;
}
