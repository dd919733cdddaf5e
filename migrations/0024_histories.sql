-- What happened around a payment, for `till explain`: rows that were only replaced or deleted until now. None of them decides
-- anything, and all of them are pruned.

-- Alerts that are over.
create table past_alerts (
  name text not null,
  subject text not null,
  message text not null,
  since timestamptz not null,
  until timestamptz not null
);
create index on past_alerts (until);

-- Leases that passed to another holder: a node has started, stopped or died.
create table lease_takeovers (
  name text not null,
  fencing bigint not null,
  at timestamptz not null,
  -- False if the holder before did not release the lease: it died, stood still or lost the database.
  is_released boolean not null,
  primary key (name, fencing)
);
create index on lease_takeovers (at);

-- Events of our items in blocks that left the chain.
create table lost_events (
  network text not null,
  transaction_hash text not null,
  commitment text not null,
  type text not null check (type in ('paid', 'refused')),
  block_number bigint not null,
  block_hash text not null,
  -- The last block that stayed.
  fork_number bigint not null,
  read_at timestamptz,
  lost_at timestamptz not null
);
create index on lost_events (commitment);
create index on lost_events (lost_at);

-- When the event was first read. Null in rows of older versions.
alter table chain_events add column read_at timestamptz;
