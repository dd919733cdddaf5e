-- Hostile payers: failures are counted for each item and each payer, and gas is recorded for each transaction and item.

-- How often a mined transaction did not pay the item, and the item's share of the gas of its final transactions.
alter table items add column failures integer not null default 0;
alter table items add column gas_spent numeric(78, 0) not null default 0;
-- The open items of a payer, and the gas of the last hour. Items of payments are open for minutes only.
create index items_by_payer on items (network, payer, accepted_at) where purpose = 'payment';

-- main: items of plain accounts. apart: one item of an account with code, or of one whose items failed before. These have a
-- bounded share of the transactions in flight and of the gas budget.
alter table sends add column lane text not null default 'main' check (lane in ('main', 'apart'));
-- Of the mined transaction, at final depth.
alter table sends add column gas_spent numeric(78, 0);
alter table sends add column coin_spent numeric(78, 0);
create index sends_by_time on sends (network, created_at);

-- Accounts whose items failed on the chain. Nothing of theirs is sent before retry_at. A row counts for an hour.
create table payer_failures (
  network text not null,
  payer text not null,
  failures integer not null check (failures > 0),
  failed_at timestamptz not null,
  retry_at timestamptz not null,
  primary key (network, payer)
);
