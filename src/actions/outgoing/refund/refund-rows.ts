import type { MacFields } from '../../../domain/row-mac.ts';
import { lockOpenRefunds, type Refund, setRefundMacs } from '../../../store/money/refunds.ts';
import { type Pages, type Renewal, renewSignableMacs } from '../../renew-macs.ts';
import { macsOf, type RowKeyDeps } from '../../row-keys.ts';

/** Each row of a refund carries a MAC under a key outside the database, because a refund may name a recipient other than the payer. */

type RefundTerms = Pick<
  Refund,
  'id' | 'paymentId' | 'merchantId' | 'network' | 'asset' | 'method' | 'recipient' | 'amount'
>;

export const { macOf: refundMac, isOwn: isOwnRefund } = macsOf('refunds', fieldsOf);

/** Writes the MACs of trusted refunds that may still be signed, under the newest key. */
export function renewRefundMacs(pages: Pages, deps: RowKeyDeps, renewal: Renewal<Refund>): Promise<number> {
  const table = { lock: lockOpenRefunds, macOf: (row: Refund) => refundMac(deps, row), write: setRefundMacs };
  return renewSignableMacs(pages, table, renewal);
}

function fieldsOf({ id, paymentId, merchantId, network, asset, method, recipient, amount }: RefundTerms): MacFields {
  return { id, paymentId, merchantId, network, asset, method, recipient, amount };
}
