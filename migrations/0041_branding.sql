-- The look that a merchant has chosen for the pages that its payers see. A merchant without a row has the look of the gateway.
create table merchant_brands (
  merchant_id text primary key references merchants,
  -- The colour of buttons. Null: that of the gateway.
  accent_color text check (accent_color ~ '^#[0-9a-f]{6}$'),
  shows_powered_by boolean not null,
  -- An uploaded logo. It is shown instead of the copy in merchant_logos, and named by the hash of its bytes like that one.
  logo_hash text,
  logo_type text check (logo_type in ('image/jpeg', 'image/png', 'image/webp', 'image/avif')),
  logo_bytes bytea,
  changed_at timestamptz not null,
  check ((logo_hash is null) = (logo_bytes is null) and (logo_hash is null) = (logo_type is null))
);
create index merchant_brands_by_logo on merchant_brands (logo_hash) where logo_hash is not null;
-- Pictures are compressed already.
alter table merchant_brands alter column logo_bytes set storage external;
