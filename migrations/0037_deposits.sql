-- Deposit addresses: an address of its own for a payment and an asset, which can only be swept to the merchant and the fee
-- account. The terms are those of an item whose payer is the address. Sweeps are items too: relayers send them.
alter table items drop constraint items_method_check;
alter table items add constraint items_method_check
  check (method in ('eip3009-vrs', 'eip3009-bytes', 'permit2', 'native', 'deposit')) not valid;
alter table items drop constraint items_purpose_check;
alter table items add constraint items_purpose_check
  check (purpose in ('payment', 'payout', 'refund', 'return', 'sweep')) not valid;
alter table chain_events drop constraint chain_events_type_check;
alter table chain_events add constraint chain_events_type_check check (type in ('paid', 'refused', 'swept')) not valid;

create table deposits (
  -- The item with the terms.
  commitment text primary key references items,
  network text not null,
  address text not null,
  payment_id text not null references payments,
  asset text not null,
  opened_at timestamptz not null,
  -- Watchers read new rows by it.
  number bigint generated always as identity,
  -- True while money has moved since the last look: read again at the next final block.
  is_stale boolean not null default false,
  -- The money that had arrived at that final block, swept or not, and the swept part.
  arrived numeric(78, 0) not null default 0,
  swept numeric(78, 0) not null default 0 check (swept >= 0),
  checked_block bigint,
  -- Money beyond the asked amount, or after the end, of which the partner was told.
  told numeric(78, 0) not null default 0,
  -- How often a sweep was ordered.
  sweeps integer not null default 0,
  -- The proof that the gateway wrote the address.
  mac text not null,
  unique (network, address),
  unique (payment_id, asset)
);
create index deposits_by_number on deposits (network, number);
create index deposits_stale on deposits (network) where is_stale;
create index deposits_unswept on deposits (network, number) where arrived <> swept;

-- Transfers to deposit addresses, in blocks of any depth. Rows of a block that was reorganised away are removed with it.
create table deposit_transfers (
  network text not null,
  transaction_hash text not null,
  log_index integer not null,
  block_number bigint not null,
  block_hash text not null,
  -- The time of the block.
  at timestamptz not null,
  commitment text not null references deposits,
  asset text not null,
  sender text not null,
  amount numeric(78, 0) not null check (amount > 0),
  -- True if the sender was on the screening list: the amount does not count.
  is_screened boolean not null,
  primary key (network, transaction_hash, log_index)
);
create index deposit_transfers_by_deposit on deposit_transfers (commitment, block_number);
create index deposit_transfers_by_block on deposit_transfers (network, block_number);

-- How far transfers were read: near the head, and once more at final depth, because a lagging node omits some.
create table deposit_cursors (
  network text primary key,
  read_number bigint not null,
  final_number bigint not null
);
