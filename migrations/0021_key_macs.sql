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
