-- Without a transaction: payments are created and moved while the indexes are built. An index that a crash left half
-- built is built again.
-- Filtered lists over all merchants of a partner, in both orders: the parts of an index that have the wanted statuses and
-- tokens are merged, whatever the number of merchants. Payments without a token are under an empty text. The columns of
-- expressions are included, because otherwise PostgreSQL does not use the index alone. The ids have a collation of their
-- own: the planner would take the primary key otherwise, which has the order of the page and no filter.
drop index concurrently if exists payments_of_partner;
create index concurrently payments_of_partner on payments
  (partner_id, mode, status, coalesce(token_asset, ''), id collate "C") include (token_asset)
  where status <> 'requires_action';
-- Of open payments only those that live for more than two days: creating the others must stay cheap.
drop index concurrently if exists payments_of_partner_by_amount;
create index concurrently payments_of_partner_by_amount on payments
  (partner_id, mode, status, coalesce(token_asset, ''),
    (amount_value * case amount_decimals when 2 then 1e34 when 6 then 1e30 when 18 then 1e18
      else power(10::numeric, 36 - amount_decimals) end), id)
  include (amount_value, amount_decimals, token_asset)
  where status <> 'requires_action' or expires_at - created_at > interval '48 hours';
