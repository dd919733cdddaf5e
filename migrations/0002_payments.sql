-- Payments, their history, what they cost, and the sums that lists show.

create table payments (
  id text primary key,
  partner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  -- No foreign key: it would lock the merchant's row for every payment. Merchants are never removed, and the insert
  -- joins them, so a payment always has one.
  merchant_id text not null,
  reference_id text not null,
  amount_unit text not null,
  amount_value numeric(78, 0) not null check (amount_value > 0),
  amount_decimals smallint not null,
  status text not null default 'requires_action'
    check (status in ('requires_action', 'processing', 'succeeded', 'failed', 'expired', 'cancelled')),
  -- Counts the moves; the event of a move has the version it led to.
  version integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz not null,
  success_url text,
  error_url text,
  failure_code text,
  -- The latest on-chain deadline of a native action that was handed out: until then the payer may still pay.
  native_deadline timestamptz,
  -- Who pays and with what: known from the confirmation on; for payments priced in a token, the token from the start.
  token_asset text,
  token_value numeric(78, 0),
  buyer_account text,
  buyer_name text,
  buyer_icon text,
  transaction_hash text,
  transaction_nonce bigint,
  check (failure_code is null or status = 'failed'),
  check (status <> 'succeeded' or (transaction_hash is not null and token_asset is not null and token_value is not null))
);
-- Ids begin with their time of creation, so these are the lists by date. What lists filter, sort and add up by is decided
-- in the index alone: the rows of one merchant lie scattered over the whole table, and reading each of them costs more
-- than all the rest. That takes a table whose pages are known to be settled, so it is vacuumed often.
create index payments_by_merchant on payments (merchant_id, id) include
  (status, expires_at, native_deadline, reference_id, amount_unit, amount_decimals, amount_value, token_asset, buyer_account);
alter table payments set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);
create index payments_by_partner on payments (partner_id, mode, id);
-- What the sweeper looks at: only what is open and ends by the clock.
create index payments_open on payments (expires_at) where status = 'requires_action' and native_deadline is null;
-- What may still be paid by a transaction of the payer's own.
create index payments_native on payments (native_deadline) where status = 'requires_action' and native_deadline is not null;

-- One row for every move of a payment: who, what, when, and what proves it.
create table payment_events (
  payment_id text not null references payments,
  version integer not null,
  at timestamptz not null,
  from_status text not null,
  to_status text not null,
  event text not null,
  actor text not null,
  evidence jsonb not null,
  primary key (payment_id, version)
);
create trigger payment_events_append_only before update or delete or truncate on payment_events
  for each statement execute function refuse_change();

-- The Idempotency-Keys of payments. They come with most payments, so they are kept small: both hashes are cut to the 128
-- bits of a uuid, which is compared faster than text, and the answer is made again from the payment.
create table payment_keys (
  claim uuid primary key,          -- hash of merchant and key
  request_hash uuid not null,
  payment_id text not null,
  created_at timestamptz not null
);
create index on payment_keys using brin (created_at);

-- Totals per merchant, status and priced unit. Writers only ever add rows to payment_stat_changes, so that payments of
-- one merchant never wait for each other; a job folds the changes into payment_stats. The truth is the sum of both.
create table payment_stats (
  partner_id text not null,
  mode text not null,
  merchant_id text not null,
  status text not null,
  amount_unit text not null,
  amount_decimals smallint not null,
  payments bigint not null,
  value numeric not null,
  primary key (partner_id, mode, merchant_id, status, amount_unit)
);
create table payment_stat_changes (
  id bigint generated always as identity primary key,
  partner_id text not null,
  mode text not null,
  merchant_id text not null,
  status text not null,
  amount_unit text not null,
  amount_decimals smallint not null,
  payments bigint not null,
  value numeric not null
);

-- How many payments of each status a buyer has with a merchant: the rows with a positive number are its customers.
create table payment_customers (
  partner_id text not null,
  mode text not null,
  merchant_id text not null,
  buyer_account text not null,
  status text not null,
  payments bigint not null,
  primary key (partner_id, mode, merchant_id, buyer_account, status) include (payments)
);

-- What the operator takes: the newest row in force of the merchant, else of the partner, else nothing.
create table fees (
  id bigint generated always as identity primary key,
  partner_id text not null references partners,
  merchant_id text references merchants,
  percentage text not null,
  -- [{ "unit": "iso4217/USD", "value": "14" }]
  fixed jsonb not null,
  starts_at timestamptz not null,
  created_at timestamptz not null
);
create index on fees (partner_id);
