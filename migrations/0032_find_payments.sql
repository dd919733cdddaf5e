-- Without a transaction: payments are created and moved while the indexes are built. An index that a crash left half
-- built is built again.
drop index concurrently if exists payments_by_transaction;
create index concurrently payments_by_transaction on payments using hash (transaction_hash)
  where transaction_hash is not null;
-- By the address of the payer, whatever its network. A hash keeps the index small.
drop index concurrently if exists payments_by_payer;
create index concurrently payments_by_payer on payments
  (hashtextextended(partner_id || mode || lower(split_part(buyer_account, ':', 3)), 0), id)
  where buyer_account is not null;
drop index concurrently if exists outgoing_by_transaction;
create index concurrently outgoing_by_transaction on outgoing (transaction_hash) where transaction_hash is not null;
analyze payments;
