-- Without a transaction: addresses are handed out while the index is built. An index that a crash left half built is
-- built again.
drop index concurrently if exists deposits_told;
create index concurrently deposits_told on deposits (opened_at) where told > 0;
