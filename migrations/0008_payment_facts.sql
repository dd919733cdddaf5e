-- A payment shows the asset, amount and buyer of the transfer that paid it. Until now a payer who confirmed one way to pay and
-- then paid in another left the facts of the first way in the payment. Such payments are corrected here, with the counts of
-- their buyers.
with paid as (
  select p.id, p.buyer_account as from_buyer, i.asset, i.amount, i.account, i.buyer_name, i.buyer_icon
  from payments p
  join items i on i.subject = p.id and i.purpose = 'payment' and i.state = 'paid'
    and i.end_reason is distinct from 'paid_after_end'
  where p.status = 'succeeded'
    and (p.token_asset is distinct from i.asset or p.token_value is distinct from i.amount
      or lower(p.buyer_account) is distinct from lower(i.account))
), corrected as (
  update payments p
  set token_asset = paid.asset, token_value = paid.amount, buyer_account = paid.account, buyer_name = paid.buyer_name,
    buyer_icon = paid.buyer_icon
  from paid where p.id = paid.id
  returning p.partner_id, p.mode, p.merchant_id, p.buyer_account, paid.from_buyer
)
insert into payment_customers (partner_id, mode, merchant_id, buyer_account, status, payments)
select partner_id, mode, merchant_id, s.buyer, 'succeeded', sum(s.sign)
from corrected, lateral (values (from_buyer, -1), (buyer_account, 1)) as s(buyer, sign)
where s.buyer is not null
group by partner_id, mode, merchant_id, s.buyer
on conflict (partner_id, mode, merchant_id, buyer_account, status)
  do update set payments = payment_customers.payments + excluded.payments;
