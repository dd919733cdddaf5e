import { isRowMac, type MacFields, macOfRow } from '../../../domain/row-mac.ts';
import { lockOpenRefunds, type Refund, setRefundMacs } from '../../../store/money/refunds.ts';
import { type Pages, renewMacs } from '../../renew-macs.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { SETTLED_MS } from '../order-outgoing.ts';

/** Rows of refunds may name another recipient than the payer, so each carries a MAC under a key outside the database. */

const TABLE = 'refunds';

type RefundTerms = Pick<
  Refund,
  'id' | 'paymentId' | 'merchantId' | 'network' | 'asset' | 'method' | 'recipient' | 'amount'
>;

export function refundMac({ rowKeys }: RowKeyDeps, refund: RefundTerms): string {
  return macOfRow(rowKeys, TABLE, fieldsOf(refund));
}

/** True if the gateway wrote exactly these terms. */
export function isOwnRefund({ rowKeys }: RowKeyDeps, refund: Refund): boolean {
  return isRowMac(rowKeys, TABLE, fieldsOf(refund), refund.mac);
}

/** Writes the MACs of trusted refunds that may still be signed, under the newest key. */
export function renewRefundMacs(
  pages: Pages,
  deps: RowKeyDeps,
  { isTrusted, now }: { readonly isTrusted: (refund: Refund) => boolean; readonly now: Date },
): Promise<number> {
  const paidSince = new Date(now.getTime() - SETTLED_MS);
  return renewMacs<Refund>(
    pages,
    {
      lock: (tx, page) => lockOpenRefunds(tx, { ...page, paidSince }),
      macOf: (refund) => refundMac(deps, refund),
      write: setRefundMacs,
    },
    isTrusted,
  );
}

function fieldsOf({ id, paymentId, merchantId, network, asset, method, recipient, amount }: RefundTerms): MacFields {
  return { id, paymentId, merchantId, network, asset, method, recipient, amount };
}
