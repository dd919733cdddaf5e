-- Two more reasons why money did not count for its payment. Nodes of the version before write the older four alone.
alter table strays drop constraint strays_reason_check;
alter table strays add constraint strays_reason_check
  check (reason in ('late', 'overpaid', 'underpaid', 'paid_twice', 'wrong_token', 'wrong_network')) not valid;
