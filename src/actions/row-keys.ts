import type { KeyRing } from '../domain/key-ring.ts';
import { isRowMac, type MacFields, macOfRow } from '../domain/row-mac.ts';
import type { Secrets } from '../runtime/secrets.ts';

export interface RowKeyDeps {
  /** Keys of the MACs of rows that decide about money. */
  readonly rowKeys: KeyRing;
}

export function rowKeysOf(secrets: Secrets): KeyRing {
  return secrets.deriveEach('rows');
}

/** Writes and checks the MACs of the rows of one table. `fieldsOf` gives the fields that only the gateway may change. */
export function macsOf<Terms>(table: string, fieldsOf: (row: Terms) => MacFields) {
  const macOf = ({ rowKeys }: RowKeyDeps, row: Terms): string => macOfRow(rowKeys, table, fieldsOf(row));
  return {
    macOf,
    withMac: <Row extends Terms>(deps: RowKeyDeps, row: Row): Row & { mac: string } => ({
      ...row,
      mac: macOf(deps, row),
    }),
    /** True if the gateway wrote exactly these fields. */
    isOwn: ({ rowKeys }: RowKeyDeps, row: Terms & { readonly mac: string | null }): boolean =>
      isRowMac(rowKeys, table, fieldsOf(row), row.mac),
  };
}
