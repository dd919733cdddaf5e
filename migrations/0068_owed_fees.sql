-- Without a transaction: payments move while the second statement runs.
-- Expands: nodes of the version before leave the column as it is, and go on guessing what is owed.
--
-- The part of `waiting` that is a fee: a sweep left it at the address because the token refused the fee account. Before this column,
-- whatever waited counted as an owed fee if the fees of the address had room for it, also what others had sent there since.
alter table lots add column if not exists owed numeric(78, 0) not null default 0;
-- As nodes of the version before count it. The next look at an address replaces it. Few addresses have lots that were swept in part.
with places as (
  select distinct network, commitment, asset from lots where address is not null and waiting > 0 and waiting < amount
), terms as (
  select distinct on (d.commitment) d.commitment, i.amount, i.fee
  from (select distinct commitment from places) p join deposits d using (commitment) join items i on i.commitment = d.item
  order by d.commitment
)
update lots l set owed = l.waiting
from (
  select w.network, w.commitment, w.asset
  from places join lots w using (network, commitment, asset) join terms t using (commitment)
  where w.address is not null and w.waiting < w.amount
  group by w.network, w.commitment, w.asset, t.amount, t.fee
  having sum(w.fee + w.waiting) <= div(t.fee * sum(w.amount), t.amount)
) p
where l.network = p.network and l.commitment = p.commitment and l.asset = p.asset
  and l.address is not null and l.waiting > 0 and l.waiting < l.amount and l.owed = 0;
