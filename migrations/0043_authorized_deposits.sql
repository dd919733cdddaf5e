-- Payments by x402: an authorization of the payer's own making, whose payee is a deposit address.
alter table items drop constraint items_method_check;
alter table items add constraint items_method_check
  check (method in ('eip3009-vrs', 'eip3009-bytes', 'permit2', 'native', 'deposit', 'deposit-vrs', 'deposit-bytes')) not valid;

-- Nonce and start of the authorization, and the identifier that the client gave the request.
alter table items add column authorization_terms jsonb;
