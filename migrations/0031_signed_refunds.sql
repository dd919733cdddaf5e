-- Refunds that the merchant's own account signs for. Their transfers leave no account of ours, so no key of ours signs them.

alter table outgoing
  -- gateway: one of our accounts pays, and we sign. merchant: the account that received the payment pays, and its holder signs.
  add column signer text not null default 'gateway';
-- Existing rows have the default, so they need no check.
alter table outgoing add constraint outgoing_signer_check check (signer in ('gateway', 'merchant')) not valid;
