-- The clock of a sandbox. Other gateways neither write nor read it, and have no row.
create table sandbox_clock (
  is_only boolean primary key default true check (is_only),
  -- The time by which the sandbox should be ahead of the database. It only grows.
  wanted_ms bigint not null check (wanted_ms >= 0),
  -- The time by which it is ahead: the chain has been moved there.
  ahead_ms bigint not null default 0 check (ahead_ms between 0 and wanted_ms)
);

-- Payments of a sandbox that asked for an outcome which is brought about after they were confirmed.
create table rehearsals (
  payment_id text primary key,
  outcome text not null,
  -- The block to be replaced, chosen before it is replaced.
  block jsonb,
  staged_at timestamptz
);
create index rehearsals_open on rehearsals (payment_id) where staged_at is null;
