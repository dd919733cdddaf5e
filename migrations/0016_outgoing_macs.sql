-- An order to send money carries a MAC under a key that is not in the database: a row that somebody else has written or
-- changed is never signed. Null: written by an older version, until the first start of this one.
alter table outgoing add column mac text;

-- The time at which the last attempt was begun. It limits how much leaves within an hour.
alter table outgoing add column begun_at timestamptz;
create index outgoing_begun on outgoing (network, asset, begun_at) where begun_at is not null;
