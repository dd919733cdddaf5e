-- Without a transaction: transfers arrive while the index is built. An index that a crash left half built is built again.
-- The deposits of one sender, in any spelling of its account.
drop index concurrently if exists deposit_transfers_by_sender;
create index concurrently deposit_transfers_by_sender on deposit_transfers (network, lower(sender));
