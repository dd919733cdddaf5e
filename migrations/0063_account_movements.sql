-- Every transfer of a known token from or to an account of ours, in final blocks, as two endpoints show it. `log_index` is that of
-- the log in its block. Coin leaves no log.
create table account_movements (
  network text not null,
  transaction_hash text not null,
  log_index integer not null,
  block_number bigint not null,
  block_hash text not null,
  asset text not null,
  sender text not null,
  recipient text not null,
  amount numeric(78, 0) not null check (amount > 0),
  -- Who owns each end: item, deposit, own (a transfer between our accounts) or nobody. Null for an end that is no place of ours.
  sender_owner text check (sender_owner in ('item', 'deposit', 'own', 'nobody')),
  recipient_owner text check (recipient_owner in ('item', 'deposit', 'own', 'nobody')),
  -- A departure that nobody ordered: the parts that the operator's fees and float bore, and the part that is still missing.
  from_fees numeric(78, 0) not null default 0 check (from_fees >= 0),
  from_float numeric(78, 0) not null default 0 check (from_float >= 0),
  lacking numeric(78, 0) not null default 0 check (lacking >= 0),
  check (from_fees + from_float + lacking <= amount),
  primary key (network, transaction_hash, log_index)
);
create index account_movements_of_block on account_movements (network, block_number);
create index account_movements_lacking on account_movements (asset, sender, block_number, log_index) where lacking > 0;

-- The blocks of a network whose movements are stored. It begins where the search for unexpected money was. Each reorganisation
-- counts one up, so a reading from before it is not stored.
create table account_cursors (
  network text primary key,
  block_number bigint not null,
  reorgs integer not null default 0
);

-- The first block whose movements of an account are stored. The last one is that of the network's cursor.
create table account_ranges (
  network text not null,
  address text not null,
  from_block bigint not null,
  primary key (network, address)
);

-- One alert for all unexpected money of an account in an asset, however many transfers it came by.
create index strays_open_on_account on strays (account, asset) where source = 'transfer' and state in ('unclaimed', 'requested', 'returning');
