-- Refunds in parts: a payment has up to twelve refunds. Nodes of the version before refund a payment once, as number 1,
-- and leave the new columns empty. A refund without a price and a fee gives back the whole payment.

alter table refunds
  -- Within the payment. The id is derived from the payment's id and this number.
  add column number integer not null default 1 check (number between 1 and 12),
  -- The part of the price that is given back, in the unit of the price.
  add column price_value numeric(78, 0) check (price_value >= 0),
  -- The part of the amount that was the operator's fee.
  add column fee numeric(78, 0) check (fee between 0 and amount),
  -- The partner's words.
  add column reason text,
  -- Not sent before: a refund to another account than the payer's cools off.
  add column send_after timestamptz,
  -- The proof that the gateway wrote the row: it may name another recipient than the payer.
  add column mac text;
alter table refunds drop constraint refunds_payment_id_key;
create unique index refunds_by_payment on refunds (payment_id, number);
-- Lists of a merchant's refunds, the newest first.
create index refunds_by_merchant on refunds (merchant_id, requested_at desc, id desc);
