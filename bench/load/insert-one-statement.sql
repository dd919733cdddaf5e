-- The rows of one payment as one statement, which is one transaction and one round trip.
\set merchant random(1, :merchants)
\set tail random(1000000000, 9999999999)
\set value random(10000, 99999)
with new as (
  select 'pay_' || (date_part('epoch', now()) * 1e6)::bigint::text || :tail::text as id
), claimed as (
  insert into payment_keys (claim, request_hash, payment_id, created_at)
  select gen_random_uuid(), '9f86d081-884c-4d65-9a2f-eaa0c55ad015', id, now() from new
)
insert into payments
  (id, partner_id, mode, merchant_id, reference_id, amount_unit, amount_value, amount_decimals,
   created_at, updated_at, expires_at)
select id, :partner::text, 'test', 'mrch_' || lpad(:merchant::text, 26, '0'), 'ORDER-' || :tail::text, 'iso4217/USD',
  :value::numeric, 2, now(), now(), now() + interval '1 day' from new;
