-- Statistics of a whole partner: the totals of days, added up over all merchants. A partner may have thousands of them.
create table payment_partner_day_stats (
  partner_id text not null,
  mode text not null,
  day date not null,
  status text not null,
  token_asset text not null,
  amount_unit text not null,
  amount_decimals smallint not null,
  payments bigint not null,
  value numeric not null,
  primary key (partner_id, mode, day, status, token_asset, amount_unit)
);

-- Triggers, because nodes of the version before fold changes as well. They run at the end of the statement, so these rows
-- are locked after all others, in one order.
create function add_partner_days() returns trigger language plpgsql as $$
begin
  insert into payment_partner_day_stats
    (partner_id, mode, day, status, token_asset, amount_unit, amount_decimals, payments, value)
  select partner_id, mode, day, status, token_asset, amount_unit, min(amount_decimals), sum(payments), sum(value)
  from new_rows
  group by partner_id, mode, day, status, token_asset, amount_unit
  order by partner_id, mode, day, status, token_asset, amount_unit
  on conflict (partner_id, mode, day, status, token_asset, amount_unit) do update
    set payments = payment_partner_day_stats.payments + excluded.payments,
      value = payment_partner_day_stats.value + excluded.value;
  return null;
end
$$;
create function change_partner_days() returns trigger language plpgsql as $$
begin
  insert into payment_partner_day_stats
    (partner_id, mode, day, status, token_asset, amount_unit, amount_decimals, payments, value)
  select partner_id, mode, day, status, token_asset, amount_unit, min(amount_decimals), sum(payments), sum(value)
  from (
    select partner_id, mode, day, status, token_asset, amount_unit, amount_decimals, payments, value from new_rows
    union all
    select partner_id, mode, day, status, token_asset, amount_unit, amount_decimals, -payments, -value from old_rows
  ) changed
  group by partner_id, mode, day, status, token_asset, amount_unit
  order by partner_id, mode, day, status, token_asset, amount_unit
  on conflict (partner_id, mode, day, status, token_asset, amount_unit) do update
    set payments = payment_partner_day_stats.payments + excluded.payments,
      value = payment_partner_day_stats.value + excluded.value;
  return null;
end
$$;

lock table payment_day_stats in share row exclusive mode;
insert into payment_partner_day_stats
  (partner_id, mode, day, status, token_asset, amount_unit, amount_decimals, payments, value)
select partner_id, mode, day, status, token_asset, amount_unit, min(amount_decimals), sum(payments), sum(value)
from payment_day_stats group by partner_id, mode, day, status, token_asset, amount_unit;
create trigger add_partner_days after insert on payment_day_stats
  referencing new table as new_rows for each statement execute function add_partner_days();
create trigger change_partner_days after update on payment_day_stats
  referencing new table as new_rows old table as old_rows for each statement execute function change_partner_days();

-- The steps of a payer that the gateway has seen. A row lives until its payment is over for certain.
create table payment_visits (
  payment_id text primary key,
  opened_at timestamptz not null,
  options_at timestamptz,
  -- The steps that the totals have: 1 with the opening, 2 with the options.
  counted smallint not null default 0
);
create index payment_visits_uncounted on payment_visits (payment_id)
  where counted < case when options_at is null then 1 else 2 end;
create index payment_visits_by_time on payment_visits (opened_at);

-- Payments by the steps that they have reached at least once, under the day (UTC) of their creation. The rows of a whole
-- partner have the merchant ''.
create table payment_day_steps (
  partner_id text not null,
  mode text not null,
  merchant_id text not null,
  day date not null,
  step text not null check (step in ('opened', 'options', 'signed', 'paid')),
  -- Of `paid`: the payment took at most so long, and longer than the next smaller value. Otherwise 0.
  within_s integer not null,
  payments bigint not null,
  primary key (partner_id, mode, merchant_id, day, step, within_s)
);

-- The position of the last event whose steps are in the totals. There is one row. It begins with the first event, so steps
-- of payments before this version are counted as well.
create table step_cursor (
  position bigint not null
);
insert into step_cursor values (0);
