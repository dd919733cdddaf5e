-- The account that a float is on. Nodes of the version before write none; a node that starts names the account in force.
alter table floats add column account text;
update floats f set account = (
  select a.address from own_accounts a
  where a.network = f.network and a.kind = 'intermediate' order by a.since desc limit 1);
