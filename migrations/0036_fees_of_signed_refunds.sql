-- The fee of a refund that the merchant's account has paid, which the operator's float is to return to the merchant's float.

alter table outgoing
  -- Units that are still to be returned, once the transfer is paid.
  add column fee_return numeric(78, 0) not null default 0;
create index outgoing_fees_to_return on outgoing (created_at) where fee_return > 0;
