import type { KeyRing } from '../domain/key-ring.ts';
import type { Secrets } from '../runtime/secrets.ts';

export interface RowKeyDeps {
  /** Keys of the MACs of rows that decide about money. */
  readonly rowKeys: KeyRing;
}

export function rowKeysOf(secrets: Secrets): KeyRing {
  return secrets.deriveEach('rows');
}
