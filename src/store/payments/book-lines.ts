import { OPERATOR_FLOAT } from '../../domain/books.ts';
import { isPayingItem } from '../chain/items.ts';
import type { Reader } from '../plumbing/database.ts';
import type { Fragment } from './payment-filter.ts';

/**
 * The SQL rows of the bookkeeping export, computed from the books. A row is the sum of the book entries of one item, payout, refund or
 * return of late money, in one asset and for one kind of account. The rows of one item, payout, refund or return sum to zero, and so do all
 * rows of a payment. Money that comes from the payer is positive, and money that goes to somebody is negative.
 *
 * The `price` of a line is its value in the currency of the price. It is the difference of two rounded running totals, so the values sum to
 * zero as well. The lines of the payment share the price, and the lines of a refund share its part of the price. Rounding differences end
 * up in the last line of each.
 */
export function linesOfMovements(db: Reader, payments: Fragment, line: Fragment): Fragment {
  return db`
    select p.id, b.place, ${line} as line
    from ${payments}
    left join payment_settlements s on s.payment_id = p.id
    cross join lateral (
      select row_number() over (order by number, asset, rank) as place, type, at, asset, amount, account, transaction_hash,
        round(total * rate) - round((total - amount) * rate) as price
      from (
        select l.*, ${accountOf(db)} as account, ${rateOf(db)} as rate,
          sum(amount) over (partition by number, asset order by rank) as total
        from (${splitLines(db)}) l
      ) valued
    ) b`;
}

/**
 * The SQL rows of the items, payouts, refunds and returns of a payment, to which its book entries refer. The paying item comes first. The
 * fee that a merchant gets back after a refund has its own reference, and its lines are part of that refund.
 */
function documents(db: Reader): Fragment {
  return db`
    select i.commitment as reference, case when ${isPaying(db)} then 0 else 1 end as number,
      case when ${isPaying(db)} then 'paying' else 'extra' end as kind, null as recipient, null::numeric as own_rate
    from items i where i.subject = p.id and p.id is not null
    union all
    select o.id, 2, 'payout', null, null from outgoing o where o.payment_id = p.id and o.purpose = 'payout'
    union all
    select own.reference, 2 + r.number, 'refund', split_part(r.asset, '/', 1) || ':' || r.recipient,
      coalesce(r.price_value, p.amount_value) / r.amount
    from refunds r cross join lateral (values (r.id), (r.id || '/fee')) as own(reference) where r.payment_id = p.id
    union all
    select t.id, 20 + row_number() over (order by t.seen_at, t.id), 'return', t.network || ':' || coalesce(g.recipient, t.recipient), null
    from strays t left join outgoing g on g.id = t.id where t.payment_id = p.id`;
}

function isPaying(db: Reader): Fragment {
  return db`(p.status = 'succeeded' and ${isPayingItem(db)})`;
}

/** The kind of a book account. Money in transit has the kind `pending`. */
function kindOf(db: Reader, account: Fragment): Fragment {
  return db`case
    when ${account} in ('payer', 'outside') then 'payer' when ${account} = 'fees' then 'fee'
    when starts_with(${account}, 'settled/') then 'settlement'
    when ${account} = 'intermediate/float/' || ${OPERATOR_FLOAT}::text then 'fee_return'
    when starts_with(${account}, 'intermediate/float/') then 'float'
    when starts_with(${account}, 'intermediate/payable/') or ${account} = 'intermediate/stray' then 'held'
    else 'pending' end`;
}

/**
 * The SQL sums of book entries by item, payout, refund or return, by asset and by kind of account. Money that a payer has authorised and
 * that is not final is left out, because it is in no account yet.
 */
function positions(db: Reader): Fragment {
  return db`
    select number, kind, recipient, own_rate, asset, side, -sum(units) as amount, max(at) as at,
      (array_agg(hash order by id desc) filter (where hash is not null))[1] as transaction_hash
    from (
      select d.*, e.id, e.asset, e.at, e.transaction_hash as hash, ${kindOf(db, db`leg.account`)} as side, leg.units,
        sum(leg.units) filter (where leg.account = 'in_flight') over (partition by d.reference, e.asset) as flying
      from (${documents(db)}) d
      join book_entries e on e.reference = d.reference
      cross join lateral jsonb_to_recordset(e.lines) as leg(account text, units numeric)
    ) legs
    where flying is null or flying = 0
    group by number, kind, recipient, own_rate, asset, side having sum(units) <> 0`;
}

/**
 * The SQL rows of each sum as one line, or as two. The money at a deposit address may exceed the payment. Then the payer's line and the
 * merchant's line are both divided, and the excess gets lines of its own as late money.
 */
function splitLines(db: Reader): Fragment {
  const isPaid = db`(q.kind = 'paying' and q.asset = p.token_asset)`;
  const fee = db`coalesce(-sum(q.amount) filter (where q.side = 'fee') over (partition by q.number, q.asset), 0)`;
  return db`
    select number, kind, recipient, own_rate, asset, side, at, transaction_hash, part.type, part.rank, part.amount
    from (select q.*, ${isPaid} as is_paid, ${fee} as fee from (${positions(db)}) q) q
    cross join lateral (
      select case when side = 'payer' then least(q.amount, p.token_value)
        when side in ('settlement', 'held', 'pending') and q.amount < 0 then greatest(q.amount, fee - p.token_value)
        else q.amount end as own
    ) o
    cross join lateral (
      select case when side <> 'payer' then side when kind = 'refund' then 'refund' when kind = 'return' then 'late_return'
          when is_paid then 'payment' else 'late_payment' end as type,
        case side when 'payer' then 0 when 'fee' then 2 when 'fee_return' then 3 when 'float' then 4 when 'held' then 5
          when 'pending' then 6 else 7 end as rank,
        case when is_paid then own else q.amount end as amount
      union all
      select case side when 'payer' then 'late_payment' when 'settlement' then 'late_settlement' else side end,
        case side when 'payer' then 1 else 8 end, q.amount - own
      where is_paid and q.amount <> own
    ) part`;
}

/**
 * The SQL rate: minor units of the price for one smallest unit of the asset. It is the rate of the refund, or of the payment's own quote,
 * or one to one for a pegged token.
 */
function rateOf(db: Reader): Fragment {
  const currency = db`case when starts_with(p.amount_unit, 'iso4217/') then substr(p.amount_unit, 9) end`;
  return db`case when l.own_rate is not null then l.own_rate
    when l.asset = p.token_asset and p.token_value > 0 then p.amount_value / p.token_value
    when known.pegs ->> l.asset = ${currency}
      then (known.steps ->> l.asset)::numeric * ('1e' || p.amount_decimals)::numeric end`;
}

function accountOf(db: Reader): Fragment {
  return db`case when l.type = 'payment' then p.buyer_account when l.type in ('refund', 'late_return') then l.recipient
    when l.type = 'settlement' and s.payment_id is not null then split_part(s.asset, '/', 1) || ':' || s.recipient end`;
}
