-- Webhooks: endpoints of partners, and one delivery for each endpoint and event.

create table webhook_endpoints (
  id text primary key,
  partner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  url text not null,
  -- Types, `payment.*` for all of an object, `*` for all.
  events text[] not null,
  -- Null: all merchants of the partner.
  merchant_ids text[],
  description text,
  status text not null check (status in ('active', 'disabled', 'deleted')),
  api_version text not null,
  -- `[{"wrapped": "…", "until": null}]`. The newest comes first and has no end. Older ones sign until their end.
  secrets jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- The first failure after the last success.
  failing_since timestamptz,
  -- A request to redeliver all events of these positions, from this time on. Null when there is none.
  replay_after bigint,
  replay_until bigint,
  replay_since timestamptz
);
create index webhook_endpoints_by_owner on webhook_endpoints (partner_id, mode) where status <> 'deleted';
create index webhook_endpoints_replaying on webhook_endpoints (id) where replay_after is not null;

-- No foreign key to the endpoint: it would lock the endpoint's row for every delivery. Endpoints are never removed.
create table webhook_deliveries (
  endpoint_id text not null,
  event_id text not null,
  status text not null default 'pending' check (status in ('pending', 'succeeded', 'failed')),
  created_at timestamptz not null,
  -- The start of the schedule: the creation, or the last request to redeliver. `tries` counts from there.
  begun_at timestamptz not null,
  tries integer not null default 0,
  -- Attempts that have a result.
  attempts integer not null default 0,
  -- The number of the last claim. It is a fencing number: a result names it, and an old one is refused.
  claim integer not null default 0,
  -- The next attempt. Of a claimed delivery: the end of the claim. Null when the delivery is over.
  due_at timestamptz,
  is_claimed boolean not null default false,
  -- The last attempt that has a result.
  attempted_at timestamptz,
  url text,
  answer_status integer,
  answer text,
  problem text,
  latency_ms integer,
  primary key (endpoint_id, event_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
create index webhook_deliveries_due on webhook_deliveries (endpoint_id, due_at) where status = 'pending';
create index webhook_deliveries_over on webhook_deliveries (created_at) where status <> 'pending';

-- The position of the last event whose deliveries exist. There is one row.
create table webhook_cursor (
  position bigint not null
);
insert into webhook_cursor
select coalesce((select position + size - 1 from event_batches order by position desc limit 1), 0);
