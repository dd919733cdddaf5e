-- The order behind a payment, in the merchant's words: description, metadata and line items. Null for most payments, and in
-- one column, so that payments without them cost nothing more.
alter table payments add column details jsonb;
