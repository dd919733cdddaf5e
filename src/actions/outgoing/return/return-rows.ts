import { isRowMac, type MacFields, macOfRow } from '../../../domain/row-mac.ts';
import { lockOpenRequests, setRequestMacs, type UnexpectedMoney } from '../../../store/money/unexpected-money.ts';
import { type Pages, type Renewal, renewSignableMacs } from '../../renew-macs.ts';
import type { RowKeyDeps } from '../../row-keys.ts';

/** A partner's request names the recipient of late money, so each row carries a MAC under a key outside the database. */

const TABLE = 'strays';

type ReturnTerms = Pick<
  UnexpectedMoney,
  'id' | 'paymentId' | 'merchantId' | 'network' | 'asset' | 'amount' | 'recipient' | 'sendAfter'
>;

export function returnMac({ rowKeys }: RowKeyDeps, terms: ReturnTerms): string {
  return macOfRow(rowKeys, TABLE, fieldsOf(terms));
}

/** True if the gateway wrote exactly this request. */
export function isOwnReturn({ rowKeys }: RowKeyDeps, unexpected: UnexpectedMoney): boolean {
  return isRowMac(rowKeys, TABLE, fieldsOf(unexpected), unexpected.mac);
}

/** Writes the MACs of trusted requests that may still be signed, under the newest key. */
export function renewReturnMacs(pages: Pages, deps: RowKeyDeps, renewal: Renewal<UnexpectedMoney>): Promise<number> {
  const table = {
    lock: lockOpenRequests,
    macOf: (row: UnexpectedMoney) => returnMac(deps, row),
    write: setRequestMacs,
  };
  return renewSignableMacs(pages, table, renewal);
}

function fieldsOf({ id, paymentId, merchantId, network, asset, amount, recipient, sendAfter }: ReturnTerms): MacFields {
  const terms = { id, paymentId, merchantId, network, asset, amount, recipient };
  return { ...terms, sendAfter: sendAfter?.toISOString() ?? null };
}
