import type { Reader } from '../plumbing/database.ts';
import type { Outgoing } from './outgoing.ts';
import type { UnexpectedMoney } from './unexpected-money.ts';

/** A transfer out of our account, with all facts that must agree with its event on chain and its book entries. */
export interface ComparedOutgoing
  extends Pick<
    Outgoing,
    'id' | 'purpose' | 'signer' | 'network' | 'asset' | 'recipient' | 'amount' | 'merchantId' | 'floatOwner' | 'state'
  > {
  /** The parts of a refund that lots, the merchant's float and the operator's float pay. */
  readonly cover: { readonly held: string; readonly merchant: string; readonly operator: string } | null;
  /** The unexpected money that the transfer returns. Null for payouts and refunds. */
  readonly unexpected: Pick<
    UnexpectedMoney,
    | 'id'
    | 'network'
    | 'asset'
    | 'merchantId'
    | 'source'
    | 'account'
    | 'isBooked'
    | 'amount'
    | 'fee'
    | 'isHeld'
    | 'lotId'
  > | null;
  /** The units that the transfer has taken from lots. */
  readonly fromLots: string;
}

export function findComparedOutgoing(db: Reader, ids: readonly string[]): Promise<ComparedOutgoing[]> {
  return db<ComparedOutgoing[]>`
    select o.id, o.purpose, o.signer, o.network, o.asset, o.recipient, o.amount, o.merchant_id as "merchantId",
      o.float_owner as "floatOwner", o.state,
      case when r.id is null then null else json_build_object('held', r.from_held::text,
        'merchant', r.from_merchant::text, 'operator', r.from_operator::text) end as cover,
      case when s.id is null then null else json_build_object('id', s.id, 'network', s.network, 'asset', s.asset,
        'merchantId', s.merchant_id, 'source', s.source, 'account', s.account, 'isBooked', s.is_booked,
        'amount', s.amount::text, 'fee', s.fee::text, 'isHeld', s.is_held, 'lotId', s.lot_id) end as unexpected,
      (select coalesce(sum(x.units), 0)::text from lot_spends x where x.order_id = o.id) as "fromLots"
    from outgoing o left join refunds r on r.id = o.id left join strays s on s.id = o.id
    where o.id = any(${ids as string[]}::text[])`;
}
