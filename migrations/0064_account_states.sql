-- What operators have decided about an account of ours: it joins, or it is retired. The newest row of an account and its kind
-- counts; without a row the settings alone decide. Nodes of the version before do not read it.
create table account_states (
  id bigint generated always as identity primary key,
  network text not null,
  address text not null,
  kind text not null check (kind in ('intermediate', 'relayer')),
  decision text not null check (decision in ('added', 'retired')),
  since timestamptz not null,
  -- The proof that the gateway wrote the row.
  mac text not null
);
create index account_states_by_account on account_states (network, kind, address, id);
create function refuse_change_of_account_state() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and (new.id, new.network, new.address, new.kind, new.decision, new.since)
    = (old.id, old.network, old.address, old.kind, old.decision, old.since) then
    return new;
  end if;
  raise exception 'Decisions about accounts are never changed or deleted.';
end $$;
create trigger account_states_append_only before update or delete on account_states
  for each row execute function refuse_change_of_account_state();
