-- The assets that payers may pay with: CAIP-19 ids, and CAIP-2 ids for all assets of a network. Null is no limit. Nodes of the
-- version before neither read nor write these columns: a payment that such a node creates has no limit, and such a node offers every
-- asset of a payment. So lists are set when all nodes have the new version.
alter table partners
  -- A partner has objects in both modes, and no network is in both.
  add column accepted_test text[],
  add column accepted_live text[],
  add constraint partners_accepted check (
    (accepted_test is null or cardinality(accepted_test) > 0) and (accepted_live is null or cardinality(accepted_live) > 0)
  ) not valid;

alter table merchants
  add column accepted_assets text[],
  add constraint merchants_accepted check (accepted_assets is null or cardinality(accepted_assets) > 0) not valid;

alter table payment_links
  add column accepted_assets text[],
  add constraint payment_links_accepted check (accepted_assets is null or cardinality(accepted_assets) > 0) not valid;

-- The common part of the lists of partner, merchant, link and order, at the time of creation. It never changes.
alter table payments
  add column accepted_assets text[],
  add constraint payments_accepted check (accepted_assets is null or cardinality(accepted_assets) > 0) not valid;
