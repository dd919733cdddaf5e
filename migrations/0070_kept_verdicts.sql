-- Expands: nodes of the version before store movements as ever, and a verdict that is kept wins over theirs.
--
-- The transfers whose sender was on the screening list when they were stored. Rows are only added, so a writer of the database
-- cannot make their money count by changing a movement, also its key, or by storing it anew.
create table screened_movements (
  network text not null,
  transaction_hash text not null,
  log_index integer not null,
  primary key (network, transaction_hash, log_index)
);
create trigger screened_movements_append_only before update or delete or truncate on screened_movements
  for each statement execute function refuse_change();

create function keep_verdict() returns trigger language plpgsql as $$
begin
  -- At an insert there is no old row, and its verdict is null.
  new.is_screened := new.is_screened or coalesce(old.is_screened, false) or exists (
    select from screened_movements s
    where s.network = new.network and s.transaction_hash = new.transaction_hash and s.log_index = new.log_index);
  if new.is_screened then
    insert into screened_movements values (new.network, new.transaction_hash, new.log_index) on conflict do nothing;
  end if;
  return new;
end $$;
-- The trigger waits for all writers of movements, and later ones wait for it. So it is created first, and the copy lacks no movement.
create trigger movements_keep_verdict before insert or update on movements
  for each row execute function keep_verdict();
insert into screened_movements select network, transaction_hash, log_index from movements where is_screened;
