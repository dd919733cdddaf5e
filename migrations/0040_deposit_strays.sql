-- Money at deposit addresses that no payment asked for: another token, or the same address on another network. It is swept
-- like the money that was asked for, and never counts for the payment.
create table deposit_strays (
  commitment text not null references deposits,
  -- The network and the token of this money.
  network text not null,
  asset text not null,
  found_at timestamptz not null,
  -- The other columns mean the same as those of `deposits`.
  is_stale boolean not null default true,
  arrived numeric(78, 0) not null default 0,
  swept numeric(78, 0) not null default 0 check (swept >= 0),
  checked_block bigint,
  told numeric(78, 0) not null default 0,
  sweeps integer not null default 0,
  owed numeric(78, 0) not null default 0 check (owed >= 0),
  primary key (commitment, network, asset)
);
create index deposit_strays_stale on deposit_strays (network) where is_stale;
create index deposit_strays_unswept on deposit_strays (network) where arrived <> swept;

-- Sweeps that a reorg removed are kept for people too. Without this every reorg of a sweep stopped the watcher.
alter table lost_events drop constraint lost_events_type_check;
alter table lost_events add constraint lost_events_type_check check (type in ('paid', 'refused', 'swept')) not valid;

-- Held money of sweeps that a deep reorg removed, although it had left the held amount already. The next sweep brings it
-- back, so that much of it is not held again.
alter table deposits add column owed numeric(78, 0) not null default 0 check (owed >= 0);

-- The asset that a deposit address was made for, if a sweep takes another one from it.
alter table items add column asked text;
