-- What the checkout shows of merchants: copies of their logos, served from the gateway's own origin.

-- One row for every merchant with a logo. It is written with the merchant, and a worker then makes the copy.
create table merchant_logos (
  merchant_id text primary key references merchants,
  source_url text not null,
  -- When the merchant asked for it; a copy that was begun for an earlier wish is thrown away.
  wished_at timestamptz not null,
  -- When the worker is to try; null when there is nothing left to do.
  due_at timestamptz,
  attempts integer not null default 0,
  -- Why the last try came to nothing.
  problem text,
  -- The copy: named by the hash of its bytes, so that a name never means another picture.
  hash text,
  type text check (type in ('image/jpeg', 'image/png', 'image/webp', 'image/avif')),
  bytes bytea,
  copied_at timestamptz,
  check ((hash is null) = (bytes is null) and (hash is null) = (type is null))
);
create index merchant_logos_due on merchant_logos (due_at) where due_at is not null;
create index merchant_logos_by_hash on merchant_logos (hash) where hash is not null;
-- Pictures are compressed already.
alter table merchant_logos alter column bytes set storage external;

insert into merchant_logos (merchant_id, source_url, wished_at, due_at)
select id, icon_url, updated_at, updated_at from merchants where icon_url is not null and deleted_at is null;
