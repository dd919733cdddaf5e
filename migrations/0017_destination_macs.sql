-- A destination decides where money goes, so its row carries a MAC under a key that is not in the database. Null: written by an
-- older version, until the first start of this one.
alter table crypto_settlements add column mac text;
