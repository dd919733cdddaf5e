-- What lists filter, sort and add up by is decided in indexes alone: the rows of one merchant lie scattered over the
-- whole table, and reading each of them costs more than all the rest.
drop index payments_by_merchant;
create index payments_by_merchant on payments (merchant_id, id) include
  (status, expires_at, native_deadline, reference_id, amount_unit, amount_decimals, amount_value, token_asset, buyer_account);

alter table payment_customers
  drop constraint payment_customers_pkey,
  add primary key (partner_id, mode, merchant_id, buyer_account, status) include (payments);
