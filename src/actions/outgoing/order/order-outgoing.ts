import { paymentIdOf } from '../../../domain/ids.ts';
import { isRowMac, type MacFields, macOfRow } from '../../../domain/row-mac.ts';
import {
  insertOutgoing,
  lockOpenOutgoing,
  type NewOutgoing,
  type Outgoing,
  setOutgoingMacs,
} from '../../../store/money/outgoing.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { type Pages, type Renewal, renewSignableMacs } from '../../renew-macs.ts';
import type { RowKeyDeps } from '../../row-keys.ts';

const TABLE = 'outgoing';

/** Stores orders of transfers, each with its MAC. Returns the ids of the new transfers, without those that were ordered before. */
export function orderOutgoing(tx: Tx, deps: RowKeyDeps, orders: readonly NewOutgoing[], at: Date): Promise<string[]> {
  return insertOutgoing(
    tx,
    orders.map((order) => ({ ...order, mac: outgoingMac(deps, order) })),
    at,
  );
}

export function outgoingMac({ rowKeys }: RowKeyDeps, order: Order): string {
  return macOfRow(rowKeys, TABLE, fieldsOf(order));
}

/** True if the gateway ordered exactly this transfer. */
export function isOrdered({ rowKeys }: RowKeyDeps, outgoing: Outgoing): boolean {
  const { id, paymentId, mac } = outgoing;
  if (isRowMac(rowKeys, TABLE, fieldsOf(outgoing), mac)) return true;
  // The id of a payout of an older version contains its payment, so its MAC does not cover the payment separately.
  const isShown = paymentId !== null && paymentIdOf(id) === paymentId;
  return isShown && isRowMac(rowKeys, TABLE, fieldsOf({ ...outgoing, paymentId: null }), mac);
}

/** Writes the MACs of trusted transfers that may be signed again, under the newest key. Other rows keep their MACs. */
export function renewOutgoingMacs(pages: Pages, deps: RowKeyDeps, renewal: Renewal<Outgoing>): Promise<number> {
  const table = { lock: lockOpenOutgoing, macOf: (row: Outgoing) => outgoingMac(deps, row), write: setOutgoingMacs };
  return renewSignableMacs(pages, table, renewal);
}

type Order = Omit<NewOutgoing, 'amount' | 'paymentId'> & {
  readonly amount: bigint | string;
  readonly paymentId?: string | null;
};

function fieldsOf(order: Order): MacFields {
  const { id, purpose, network, asset, method, payer, recipient, amount, merchantId, floatOwner, paymentId } = order;
  return {
    id,
    purpose,
    network,
    asset,
    method,
    payer,
    recipient,
    amount: amount.toString(),
    merchantId,
    floatOwner,
    // Only payouts store the id of their payment, and payouts of older versions do not.
    ...(paymentId != null && { paymentId }),
  };
}
