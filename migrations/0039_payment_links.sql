-- Links that payers open to pay. Each payment of a link is a payment like any other.
create table payment_links (
  id text primary key,
  partner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  merchant_id text not null references merchants,
  description text not null,
  reference_id text not null,
  amount_unit text not null,
  amount_decimals smallint not null,
  -- The price. Null: the payer chooses an amount between these bounds.
  amount_value numeric(78, 0),
  minimum_value numeric(78, 0),
  maximum_value numeric(78, 0),
  -- Pieces in all. Null: no end.
  stock integer check (stock > 0),
  status text not null check (status in ('active', 'inactive')),
  expires_at timestamptz,
  -- Named by the hash of its bytes, as logos are.
  picture_hash text,
  picture_type text check (picture_type in ('image/jpeg', 'image/png', 'image/webp', 'image/avif')),
  picture_bytes bytea,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((amount_value is null) = (minimum_value is not null) and (amount_value is null) = (maximum_value is not null)),
  check (minimum_value <= maximum_value),
  check ((picture_hash is null) = (picture_bytes is null) and (picture_hash is null) = (picture_type is null))
);
create index payment_links_by_merchant on payment_links (merchant_id, id);
create index payment_links_by_picture on payment_links (picture_hash) where picture_hash is not null;
-- Pictures are compressed already.
alter table payment_links alter column picture_bytes set storage external;

-- The pieces that are being paid or have been paid: one row for each payment of a link that is `processing` or `succeeded`. Rows
-- instead of a counter, so that a piece can be neither taken nor returned twice.
create table payment_link_pieces (
  payment_id text primary key,
  link_id text not null
);
create index payment_link_pieces_by_link on payment_link_pieces (link_id);

alter table payments add column link_id text;
