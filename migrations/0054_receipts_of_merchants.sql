-- Limits of receipts by mail. Nodes of the version before leave the merchant empty: their receipts are not counted for it.
alter table mails
  -- The merchant whose receipt it is.
  add column merchant_id text;

create index mails_by_merchant on mails (merchant_id, created_at) where kind = 'receipt';
-- One inbox has many spellings: letters in any case, dots, and a part after a plus sign.
create index mails_by_inbox on mails ((
  replace(split_part(split_part(lower(recipient), '@', 1), '+', 1), '.', '') || '@' || split_part(lower(recipient), '@', 2)
), created_at) where kind = 'receipt';
