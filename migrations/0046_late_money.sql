-- Late money: strays of payments, which partners see and have returned to an account that they name. Nodes of the version
-- before leave the new columns empty, and do not touch a requested return.
alter table strays
  -- Why the payment did not need it. Null for money without a payment.
  add column reason text check (reason in ('late', 'overpaid', 'wrong_token', 'wrong_network')),
  -- The account that a partner has named. Null if nobody has asked, and if an operator returns it.
  add column recipient text,
  add column requested_at timestamptz,
  -- Not sent before: a requested return cools off.
  add column send_after timestamptz,
  -- Why the last return did not happen.
  add column problem text,
  -- The proof that the gateway wrote the request.
  add column mac text;

alter table strays drop constraint strays_state_check;
alter table strays add constraint strays_state_check
  check (state in ('unclaimed', 'requested', 'float', 'returning', 'returned'));
alter table strays add constraint strays_requested_check check (state <> 'requested' or recipient is not null);

update strays s set reason = coalesce(
  (select e.data -> 'lateMoney' ->> 'reason' from events e
   where e.object_id = s.payment_id and e.type = 'payment.late_money' and e.evidence ->> 'stray' = s.id limit 1), 'late')
where s.payment_id is not null;

-- Lists of a merchant's late money, the newest first.
create index strays_by_merchant on strays (merchant_id, seen_at desc, id desc) where payment_id is not null;
create index strays_by_payment on strays (payment_id) where payment_id is not null;
create index strays_requested on strays (requested_at) where state = 'requested';
