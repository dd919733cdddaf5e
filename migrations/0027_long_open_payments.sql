-- Open payments that live for more than two days may be many, and lists must not read all of them. They are few among all
-- open payments, so creating payments stays as cheap as before. The condition is that of the lists.
create index payments_long_by_amount on payments
  (merchant_id, (amount_value * case amount_decimals when 2 then 1e34 when 6 then 1e30 when 18 then 1e18
    else power(10::numeric, 36 - amount_decimals) end), id)
  include (amount_value, amount_decimals, token_asset, expires_at, native_deadline, status)
  where status = 'requires_action' and expires_at - created_at > interval '48 hours';
create index payments_long_by_reference on payments using gin (reference_parts(merchant_id, reference_id))
  with (fastupdate = off) where status = 'requires_action' and expires_at - created_at > interval '48 hours';
-- Open payments that were offered to a payer: new ones have no token.
create index payments_offered on payments (merchant_id, id)
  include (token_asset, expires_at, native_deadline, status, amount_value, amount_decimals)
  where status = 'requires_action' and token_asset is not null;
analyze payments;
