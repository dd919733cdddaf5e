-- Secrets are stored wrapped by the operator's master secret, or not at all: reading the database gives nobody a key.

-- The keys that sign receipts. Public keys stay for good: receipts outlive the key that signed them.
create table receipt_keys (
  id text primary key,        -- the thumbprint of the public key, RFC 7638
  public_key text not null,   -- base64url, as in a JSON Web Key
  wrapped_seed text,          -- the private key, wrapped by the master secret; null once another key signs
  created_at timestamptz not null,
  retired_at timestamptz,
  check ((wrapped_seed is null) = (retired_at is not null))
);

-- One key signs.
create unique index receipt_keys_signing on receipt_keys ((true)) where retired_at is null;

-- Only values that are no secret are shared in clear, such as the first block of the sandbox chain. Rows of older versions
-- (cursor, option, receipt) are clear keys: the first start removes them, and wraps the receipt key.
alter table secrets rename to shared_values;
