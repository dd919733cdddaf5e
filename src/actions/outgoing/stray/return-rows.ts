import { isRowMac, type MacFields, macOfRow } from '../../../domain/row-mac.ts';
import { lockOpenRequests, type Stray, setRequestMacs } from '../../../store/money/strays.ts';
import { type Pages, renewMacs } from '../../renew-macs.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { SETTLED_MS } from '../order-outgoing.ts';

/** Requests of partners name the recipient of late money, so each carries a MAC under a key outside the database. */

const TABLE = 'strays';

type ReturnTerms = Pick<
  Stray,
  'id' | 'paymentId' | 'merchantId' | 'network' | 'asset' | 'amount' | 'recipient' | 'sendAfter'
>;

export function returnMac({ rowKeys }: RowKeyDeps, terms: ReturnTerms): string {
  return macOfRow(rowKeys, TABLE, fieldsOf(terms));
}

/** True if the gateway wrote exactly this request. */
export function isOwnReturn({ rowKeys }: RowKeyDeps, stray: Stray): boolean {
  return isRowMac(rowKeys, TABLE, fieldsOf(stray), stray.mac);
}

/** Writes the MACs of trusted requests that may still be signed, under the newest key. */
export function renewReturnMacs(
  pages: Pages,
  deps: RowKeyDeps,
  { isTrusted, now }: { readonly isTrusted: (stray: Stray) => boolean; readonly now: Date },
): Promise<number> {
  const paidSince = new Date(now.getTime() - SETTLED_MS);
  return renewMacs<Stray>(
    pages,
    {
      lock: (tx, page) => lockOpenRequests(tx, { ...page, paidSince }),
      macOf: (stray) => returnMac(deps, stray),
      write: setRequestMacs,
    },
    isTrusted,
  );
}

function fieldsOf({ id, paymentId, merchantId, network, asset, amount, recipient, sendAfter }: ReturnTerms): MacFields {
  const terms = { id, paymentId, merchantId, network, asset, amount, recipient };
  return { ...terms, sendAfter: sendAfter?.toISOString() ?? null };
}
