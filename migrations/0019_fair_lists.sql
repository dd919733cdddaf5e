-- Lists stay fast for merchants with millions of payments: an index for every filter and order, and totals that no list has
-- to compute from rows. Open payments are few, and creating them must stay cheap, so the further indexes leave them out.
create extension if not exists btree_gin;

-- Nodes of the version before may still be running.
lock table payments, refunds, payment_stats, payment_stat_changes, payment_customers in share row exclusive mode;
set local work_mem = '64MB';
set local maintenance_work_mem = '256MB';

-- By status and date. Filters and sums of a time range need this index alone: the rows of one merchant are scattered over
-- the whole table.
create index payments_by_status on payments (merchant_id, status, id) include
  (expires_at, native_deadline, reference_id, amount_unit, amount_decimals, amount_value, token_asset, buyer_account);
drop index payments_by_merchant;
-- By status and amount in major units, whatever the currency. The columns of the expression are included, because otherwise
-- PostgreSQL does not use the index alone.
create index payments_by_amount on payments
  (merchant_id, status, (amount_value * case amount_decimals when 2 then 1e34 when 6 then 1e30 when 18 then 1e18
    else power(10::numeric, 36 - amount_decimals) end), id)
  include (amount_value, amount_decimals, token_asset) where status <> 'requires_action';
create index payments_by_token on payments (merchant_id, token_asset, id) include (status)
  where status <> 'requires_action' and token_asset is not null;
-- Without a pending list: a search would have to read it, and one unlucky writer would have to empty it.
create index payments_by_reference on payments using gin (merchant_id, reference_id gin_trgm_ops)
  with (fastupdate = off) where status <> 'requires_action';

-- Totals by token as well, and by day (UTC) for time ranges. A payment without a token is counted under ''.
drop table payment_stats;
create table payment_stats (
  partner_id text not null,
  mode text not null,
  merchant_id text not null,
  status text not null,
  token_asset text not null,
  amount_unit text not null,
  amount_decimals smallint not null,
  payments bigint not null,
  value numeric not null,
  primary key (partner_id, mode, merchant_id, status, token_asset, amount_unit)
);
create table payment_day_stats (
  partner_id text not null,
  mode text not null,
  merchant_id text not null,
  day date not null,
  status text not null,
  token_asset text not null,
  amount_unit text not null,
  amount_decimals smallint not null,
  payments bigint not null,
  value numeric not null,
  primary key (partner_id, mode, merchant_id, day, status, token_asset, amount_unit)
);
truncate payment_stat_changes;
alter table payment_stat_changes add column day date not null, add column token_asset text not null;

insert into payment_day_stats
  (partner_id, mode, merchant_id, day, status, token_asset, amount_unit, amount_decimals, payments, value)
select p.partner_id, p.mode, p.merchant_id, (p.created_at at time zone 'UTC')::date, p.status, coalesce(p.token_asset, ''),
  p.amount_unit, min(p.amount_decimals), count(*), sum(case when r.payment_id is null then p.amount_value else 0 end)
from payments p left join refunds r on r.payment_id = p.id and r.state = 'refunded'
group by 1, 2, 3, 4, 5, 6, 7;
insert into payment_stats
  (partner_id, mode, merchant_id, status, token_asset, amount_unit, amount_decimals, payments, value)
select partner_id, mode, merchant_id, status, token_asset, amount_unit, min(amount_decimals), sum(payments), sum(value)
from payment_day_stats group by 1, 2, 3, 4, 5, 6;

-- The number of payments that a buyer has with a merchant, by status and token, and by day as well.
drop table payment_customers;
create table payment_customers (
  partner_id text not null,
  mode text not null,
  merchant_id text not null,
  buyer_account text not null,
  status text not null,
  token_asset text not null,
  payments bigint not null,
  primary key (partner_id, mode, merchant_id, buyer_account, status, token_asset) include (payments)
);
create table payment_day_customers (
  partner_id text not null,
  mode text not null,
  merchant_id text not null,
  day date not null,
  buyer_account text not null,
  status text not null,
  token_asset text not null,
  payments bigint not null,
  primary key (partner_id, mode, merchant_id, day, buyer_account, status, token_asset) include (payments)
);
insert into payment_day_customers (partner_id, mode, merchant_id, day, buyer_account, status, token_asset, payments)
select partner_id, mode, merchant_id, (created_at at time zone 'UTC')::date, buyer_account, status,
  coalesce(token_asset, ''), count(*)
from payments where buyer_account is not null
group by 1, 2, 3, 4, 5, 6, 7;
insert into payment_customers (partner_id, mode, merchant_id, buyer_account, status, token_asset, payments)
select partner_id, mode, merchant_id, buyer_account, status, token_asset, sum(payments)
from payment_day_customers group by 1, 2, 3, 4, 5, 6;
