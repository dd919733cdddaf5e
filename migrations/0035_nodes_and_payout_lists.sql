-- The nodes that run now, for operators. A node writes its row every few seconds; nothing is decided by it.
create table nodes (
  id text primary key,
  host text not null,
  roles text[] not null,
  started_at timestamptz not null,
  seen_at timestamptz not null
);

create index payouts_by_merchant on payouts (merchant_id, payment_id);
