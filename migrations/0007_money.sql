-- Coin that reached accounts of ours leaves no log: it is found by what the accounts hold.

-- Coin that a contract sent: neither the transaction nor the sender can be told.
alter table strays alter column transaction_hash drop not null;
alter table strays alter column sender drop not null;

-- Up to which block the coin of each of our accounts is explained by the books.
create table coin_cursors (
  network text not null,
  account text not null,
  block_number bigint not null,
  primary key (network, account)
);

-- Where the search for strays began: what came before is what the accounts had when the books were opened.
alter table stray_cursors add column first_block bigint;
update stray_cursors set first_block = block_number;
alter table stray_cursors alter column first_block set not null;
