import { isRowMac, type MacFields, macOfRow } from '../../domain/row-mac.ts';
import { type Deposit, lockAllDeposits, setDepositMacs } from '../../store/chain/deposits.ts';
import { type Pages, renewMacs } from '../renew-macs.ts';
import type { RowKeyDeps } from '../row-keys.ts';

/** Deposit addresses decide where payers send money, so each row carries a MAC under a key outside the database. */

const TABLE = 'deposits';

type DepositFields = Omit<Deposit, 'mac'>;

export function depositMac({ rowKeys }: RowKeyDeps, deposit: DepositFields): string {
  return macOfRow(rowKeys, TABLE, fieldsOf(deposit));
}

/** True if the gateway wrote exactly this address for this payment. */
export function isOwnDeposit({ rowKeys }: RowKeyDeps, deposit: Deposit): boolean {
  return isRowMac(rowKeys, TABLE, fieldsOf(deposit), deposit.mac);
}

export function renewDepositMacs(
  pages: Pages,
  deps: RowKeyDeps,
  isTrusted: (row: Deposit) => boolean,
): Promise<number> {
  const rows = {
    lock: lockAllDeposits,
    macOf: (row: Deposit & { readonly id: string }) => depositMac(deps, row),
    write: setDepositMacs,
  };
  return renewMacs(pages, rows, isTrusted);
}

function fieldsOf({ commitment, network, address, paymentId, asset }: DepositFields): MacFields {
  return { commitment, network, address, paymentId, asset };
}
