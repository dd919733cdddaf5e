-- The rows of one payment as two plain inserts in one transaction.
\set merchant random(1, :merchants)
\set tail random(1000000000, 9999999999)
\set value random(10000, 99999)
begin;
insert into payment_keys (claim, request_hash, payment_id, created_at)
values (gen_random_uuid(), '9f86d081-884c-4d65-9a2f-eaa0c55ad015',
  'pay_' || (date_part('epoch', now()) * 1e6)::bigint::text || :tail::text, now());
insert into payments
  (id, partner_id, mode, merchant_id, reference_id, amount_unit, amount_value, amount_decimals,
   created_at, updated_at, expires_at)
values ('pay_' || (date_part('epoch', now()) * 1e6)::bigint::text || :tail::text, :partner::text, 'test',
  'mrch_' || lpad(:merchant::text, 26, '0'), 'ORDER-' || :tail::text, 'iso4217/USD', :value::numeric, 2,
  now(), now(), now() + interval '1 day');
commit;
