-- Without a transaction: payments move while the indexes are built. An index that a crash left half built is built again.
-- A search of references in any case. Nodes of the version before use `payments_by_reference` and
-- `payments_long_by_reference`; a later migration removes them.
drop index concurrently if exists payments_by_folded_reference;
create index concurrently payments_by_folded_reference on payments
  using gin (reference_parts(merchant_id, lower(reference_id)))
  with (fastupdate = off) where status <> 'requires_action';
drop index concurrently if exists payments_long_by_folded_reference;
create index concurrently payments_long_by_folded_reference on payments
  using gin (reference_parts(merchant_id, lower(reference_id)))
  with (fastupdate = off) where status = 'requires_action' and expires_at - created_at > interval '48 hours';
analyze payments;
