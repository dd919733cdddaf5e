-- An account may be in use, be replaced, and come back: each time is a row. An operator names accounts that a restored database
-- does not know.
alter table own_accounts drop constraint own_accounts_pkey;
alter table own_accounts add primary key (network, kind, address, since);

-- Our accounts hold less of an asset than the books owe: nothing of it leaves.
alter table freezes drop constraint freezes_scope_check;
alter table freezes add constraint freezes_scope_check
  check (scope in ('merchant', 'partner', 'network', 'payouts', 'refunds', 'restored', 'asset'));

-- One comparison of what our accounts hold of an asset with what the books owe, at a block that the watcher has booked. It is
-- made once for all nodes.
create table solvency_readings (
  network text not null,
  asset text not null,
  block_number bigint not null,
  block_hash text not null,
  -- The sum of the accounts of the books whose money is on our accounts, without gas money.
  owed numeric(78, 0) not null,
  -- The sum of the balances on chain, as two endpoints show them, with mined gas that is not booked yet.
  held numeric(78, 0) not null,
  at timestamptz not null,
  -- The proof that the gateway wrote the row.
  mac text not null,
  primary key (network, asset, block_number, block_hash)
);
