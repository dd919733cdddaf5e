import type { MacFields } from '../../domain/row-mac.ts';
import { type Deposit, lockAllDeposits, setDepositMacs } from '../../store/chain/deposits.ts';
import { type Pages, renewMacs } from '../renew-macs.ts';
import { macsOf, type RowKeyDeps } from '../row-keys.ts';

/** Each row of a deposit address carries a MAC under a key outside the database, because it decides where payers send money. */

type DepositFields = Omit<Deposit, 'mac'>;

export const { macOf: depositMac, isOwn: isOwnDeposit } = macsOf('deposits', fieldsOf);

export function renewDepositMacs(
  pages: Pages,
  deps: RowKeyDeps,
  isTrusted: (row: Deposit) => boolean,
): Promise<number> {
  const macOf = (row: Deposit & { readonly id: string }) => depositMac(deps, row);
  return renewMacs(pages, { lock: lockAllDeposits, macOf, write: setDepositMacs }, isTrusted);
}

function fieldsOf({ commitment, network, address, paymentId, asset }: DepositFields): MacFields {
  return { commitment, network, address, paymentId, asset };
}
