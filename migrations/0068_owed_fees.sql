-- Without a transaction: the second statement reads all lots, and payments move meanwhile.
-- Expands: nodes of the version before leave the column as it is, and go on guessing what is owed.
--
-- The part of `waiting` that is a fee: a sweep left it at the address because the token refused the fee account. Before this column,
-- whatever waited counted as an owed fee if the fees of the address had room for it, also what others had sent there since.
alter table lots add column if not exists owed numeric(78, 0) not null default 0;
-- As nodes of the version before count it. The next look at an address replaces it.
update lots l set owed = l.waiting
from (
  select w.network, w.commitment, w.asset from lots w, lateral (
    select i.amount, i.fee from deposits d join items i on i.commitment = d.item where d.commitment = w.commitment limit 1) i
  where w.address is not null and w.waiting < w.amount
  group by w.network, w.commitment, w.asset, i.amount, i.fee
  having sum(w.waiting) > 0 and sum(w.fee + w.waiting) <= div(i.fee * sum(w.amount), i.amount)
) p
where l.network = p.network and l.commitment = p.commitment and l.asset = p.asset
  and l.address is not null and l.waiting > 0 and l.waiting < l.amount and l.owed = 0;
