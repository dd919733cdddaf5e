-- An API key decides who may act for a partner, so its row carries a MAC under a key that is not in the database. Null: written
-- by an older version, until the first start of this one.
alter table api_keys add column mac text;

-- The rights of a key never change. Its end may come nearer: each row is such an end. Nobody can change or delete these rows,
-- so a revoked key stays revoked, even if an older copy of its row is put back.
create table api_key_ends (
  key_id text not null references api_keys,
  kind text not null check (kind in ('revoked', 'replaced')),
  at timestamptz not null,
  primary key (key_id, kind, at)
);
create trigger api_key_ends_append_only before update or delete or truncate on api_key_ends
  for each statement execute function refuse_change();
insert into api_key_ends (key_id, kind, at)
select id, 'revoked', revoked_at from api_keys where revoked_at is not null;

-- Deleting a row of `freezes` lifts a freeze, and no MAC of the row prevents that. So each change of the set appends a head: the
-- names of all freezes in force, with a MAC over the names and the number. The newest head counts. Nobody can change or delete
-- heads, so an older one cannot take its place.
create table freeze_heads (
  number bigint not null,
  freezes text[] not null,  -- scope and subject of each
  mac text not null,
  primary key (number, mac)
);
create trigger freeze_heads_append_only before update or delete or truncate on freeze_heads
  for each statement execute function refuse_change();

-- A transaction that moves money shares the table and compares it with the newest head. A change of the table by anybody waits
-- for such transactions, so no freeze disappears between the comparison and the commit.
create function lock_freezes() returns trigger language plpgsql as $$
begin
  lock table freezes in exclusive mode;
  return null;
end
$$;
create trigger freezes_locked before update or delete on freezes
  for each statement execute function lock_freezes();
