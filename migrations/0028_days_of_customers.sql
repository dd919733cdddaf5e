-- The first and the last day (UTC) on which a customer has payments of this kind. A time range with one end is then decided
-- without the rows of its days. Null: unknown, and the rows of days decide. A job finds the unknown ones.
alter table payment_customers
  add column first_day date,
  add column last_day date,
  -- Counts the changes by nodes that know the days.
  add column day_changes integer not null default 0;
create index payment_customers_without_days on payment_customers (partner_id, mode, merchant_id)
  where first_day is null and payments > 0;

-- Nodes of the version before may still be running, and do not know the days.
create function forget_days() returns trigger language plpgsql as $$
begin
  new.first_day := null;
  new.last_day := null;
  return new;
end
$$;
create trigger forget_days before update on payment_customers for each row
  when (old.payments is distinct from new.payments and old.day_changes = new.day_changes)
  execute function forget_days();
