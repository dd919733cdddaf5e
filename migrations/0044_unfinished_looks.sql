-- A look at the money of a deposit address has several transactions. A node that dies between them leaves it unfinished, and
-- the next node looks again.
alter table deposits add column is_unfinished boolean not null default false;
alter table deposit_strays add column is_unfinished boolean not null default false;

drop index deposits_stale;
create index deposits_due on deposits (network) where is_stale or is_unfinished;
drop index deposit_strays_stale;
create index deposit_strays_due on deposit_strays (network) where is_stale or is_unfinished;

-- Looks that were cut off before there was a mark for it.
update deposits set is_stale = true where arrived <> swept;
update deposit_strays set is_stale = true where arrived <> swept;
