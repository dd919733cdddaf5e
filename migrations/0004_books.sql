-- The books.

-- What the lines of an entry add up to: nothing, or the entry is refused.
create function book_sum(lines jsonb) returns numeric language sql immutable strict parallel safe as $$
  select coalesce(sum((line ->> 'units')::numeric), 0) from jsonb_array_elements(lines) as line
$$;

-- Double entry: each row moves units of one asset between accounts. It is written in the transaction of what it tells of.
create table book_entries (
  id bigint generated always as identity primary key,
  network text not null,
  asset text not null,
  kind text not null,
  -- Whose money: a payment, payout or refund, a relayer.
  subject text not null,
  -- What it stands on: the commitment of an item, or the hash of a transaction.
  reference text not null,
  merchant_id text,
  transaction_hash text,
  -- The block that proves it, where one does.
  block_number bigint,
  note text,
  at timestamptz not null,
  -- [{ "account": "fees", "units": "10" }, …]
  lines jsonb not null check (jsonb_array_length(lines) >= 2 and book_sum(lines) = 0),
  -- The place in the chain of hashes of its network, given by the sealer within seconds.
  sequence bigint,
  hash text,
  unique (network, sequence),
  check ((sequence is null) = (hash is null))
);
create index book_entries_unsealed on book_entries (network, id) where sequence is null;
create index book_entries_by_reference on book_entries (reference);
create index book_entries_by_block on book_entries (network, block_number) where block_number is not null;
create index book_entries_by_time on book_entries (at, id);

-- The one change a row ever sees is its seal.
create trigger book_entries_unchanging before update on book_entries for each row
  when (old.hash is not null
    or (old.id, old.network, old.asset, old.kind, old.subject, old.reference, old.at, old.lines)
      is distinct from (new.id, new.network, new.asset, new.kind, new.subject, new.reference, new.at, new.lines)
    or (old.merchant_id, old.transaction_hash, old.block_number, old.note)
      is distinct from (new.merchant_id, new.transaction_hash, new.block_number, new.note))
  execute function refuse_change();
create trigger book_entries_append_only before delete or truncate on book_entries
  for each statement execute function refuse_change();

-- The last link of each chain of hashes: without it nobody would miss the last rows.
create table book_chains (
  network text primary key,
  sequence bigint not null,
  hash text not null
);

-- Balances of all sealed entries, kept by the sealer. The truth is their sum with the entries that are not sealed yet.
create table book_balances (
  network text not null,
  account text not null,
  asset text not null,
  units numeric not null,
  primary key (network, account, asset)
);

-- Up to which block the books were found to agree with the chain.
create table book_audits (
  network text primary key,
  block_number bigint not null
);

-- Settlement: what reached merchants, and what was taken of it.

-- Whether an item's money goes to the operator's own account, to be passed on later. It is known when the item is accepted,
-- and must not be guessed afterwards from a setting that may have changed.
alter table items add column is_held boolean not null default false;
-- What its fee is made of, in the paid asset: { "percentage": "0.4", "fixed": "140000" }.
alter table items add column fee_terms jsonb;

-- The transfer by which a payment's net amount reached its merchant: the payment's own, or a payout of what was held.
create table payment_settlements (
  payment_id text primary key references payments,
  asset text not null,
  amount numeric(78, 0) not null check (amount >= 0),
  recipient text not null,
  transaction_hash text not null,
  at timestamptz not null
);
