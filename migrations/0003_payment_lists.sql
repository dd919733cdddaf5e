-- Customers are counted in the index alone: the rows of one merchant lie scattered over the whole table.
alter table payment_customers
  drop constraint payment_customers_pkey,
  add primary key (partner_id, mode, merchant_id, buyer_account, status) include (payments);
