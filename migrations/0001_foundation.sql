-- Partners, their keys, wallet apps, merchants and where merchants are paid.
-- Times come from the gateway's own clock, to the millisecond, so that what is stored is what was answered.

create extension if not exists pg_trgm;

-- Values every node must share and none may be configured with, such as the key that signs cursors.
create table secrets (
  name text primary key,
  value bytea not null
);

create table partners (
  id text primary key,
  name text not null,
  pinned_version text not null,
  frame_origins text[] not null default '{}',
  created_at timestamptz not null,
  disabled_at timestamptz
);

create table api_keys (
  id text primary key,
  partner_id text not null references partners,
  mode text not null check (mode in ('test', 'live')),
  hash text not null unique,  -- SHA-256, in hex: the key itself is stored nowhere
  -- The last characters of the key, so that people can tell which one it is.
  hint text not null,
  label text not null,
  scopes text[],        -- null: everything
  merchant_ids text[],  -- null: every merchant of the partner
  rotated_from text references api_keys,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);
create index on api_keys (partner_id);

create table wallet_apps (
  id text primary key,
  mode text not null check (mode in ('test', 'live')),
  name text not null,
  icon_url text,
  created_at timestamptz not null,
  removed_at timestamptz
);

create table merchants (
  id text primary key,
  partner_id text not null references partners,
  mode text not null check (mode in ('test', 'live')),
  name text not null,
  email text,
  status text not null check (status in ('active', 'inactive', 'suspended')),
  icon_url text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  -- One column for "name or id", so that one index serves the search. The line break keeps the two apart.
  search_text text not null generated always as (lower(name) || E'\n' || lower(id)) stored
);
-- Ids begin with their time of creation, so newest first is a walk along this index.
create index merchants_by_partner on merchants (partner_id, mode, id desc) where deleted_at is null;
create index merchants_search on merchants using gin (search_text gin_trgm_ops) where deleted_at is null;

create table crypto_settlements (
  id text primary key,
  merchant_id text not null references merchants,
  asset text not null,
  -- The asset as it is compared: without case on EVM chains, exactly on Solana.
  asset_key text not null,
  destination text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (merchant_id, asset_key)
);

create table fiat_settlements (
  id text primary key,
  merchant_id text not null references merchants,
  status text not null check (status in ('active', 'inactive')),
  bank_type text not null,
  created_at timestamptz not null
);
create index on fiat_settlements (merchant_id);

-- Answers given to requests that carried an Idempotency-Key. The row is claimed and filled in the transaction that
-- does the work, so there is no row without its work and no work without its row.
-- No foreign key: it would lock the partner's row for every request, and partners are never removed.
create table idempotency_keys (
  partner_id text not null,
  mode text not null,
  merchant_id text not null,  -- '' where the route takes none
  route text not null,
  key text not null,
  request_hash text not null,
  status smallint,
  body text,
  created_at timestamptz not null,
  primary key (partner_id, mode, merchant_id, route, key)
);
create index on idempotency_keys (created_at);

-- Who changed what: written in the same transaction as the change, never updated, never deleted.
create table audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  actor text not null,
  action text not null,
  subject text not null,
  detail jsonb not null
);
create index on audit_log (subject, id);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are never changed', tg_table_name;
end
$$;
create trigger audit_log_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_change();

create table alerts (
  name text not null,
  subject text not null,
  message text not null,
  since timestamptz not null,
  last_seen timestamptz not null,
  primary key (name, subject)
);
