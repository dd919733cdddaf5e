import type { MacFields } from '../../../domain/row-mac.ts';
import { lockOpenRequests, setRequestMacs, type UnexpectedMoney } from '../../../store/money/unexpected-money.ts';
import { type Pages, type Renewal, renewSignableMacs } from '../../renew-macs.ts';
import { macsOf, type RowKeyDeps } from '../../row-keys.ts';

/**
 * Each requested return carries a MAC under a key outside the database, because the partner's request names the recipient of the money.
 */

type ReturnTerms = Pick<
  UnexpectedMoney,
  'id' | 'paymentId' | 'merchantId' | 'network' | 'asset' | 'amount' | 'recipient' | 'sendAfter'
>;

export const { macOf: returnMac, isOwn: isOwnReturn } = macsOf('strays', fieldsOf);

/** Writes the MACs of trusted requests whose transfers may still be signed, under the newest key. */
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
