-- Expands: a node of the version before goes on, by views with the names and columns that it knows. They go in a later version.
--
-- The journal of our transactions, in words of every chain family. A slot is the place of a transaction among those of its signer:
-- the nonce, on EVM chains. It is unique for (network, signer, slot), and was taken under the fencing number of a lease.

alter table sends rename to relay_sends;
alter table relay_sends rename column nonce to slot;
-- In the chain's own unit of execution, which is gas on EVM chains.
alter table relay_sends rename column gas_spent to work_spent;

-- A signed transaction of a slot. Nothing but its family reads the bytes and the terms.
alter table send_versions rename to relay_versions;
alter table relay_versions rename column nonce to slot;
-- The highest price of a unit of execution. Of the versions of a slot, the one with the highest price is in force.
alter table relay_versions rename column max_fee to price;
alter table relay_versions add column terms jsonb;
-- The most that it can cost, in the smallest unit of the coin.
alter table relay_versions add column cost numeric(78, 0);

alter table send_items rename to relay_items;
alter table relay_items rename column nonce to slot;

-- Nodes of both versions write versions of slots. Each finds there what it reads, whoever wrote.
alter table relay_versions alter column tip drop not null;
alter table relay_versions alter column gas_limit drop not null;
create function mirror_relay_version() returns trigger language plpgsql as $$
begin
  if new.terms is null then
    new.terms := jsonb_build_object('tip', new.tip::text);
    new.cost := new.gas_limit * new.price;
  else
    new.tip := coalesce((new.terms ->> 'tip')::numeric, 0);
    new.gas_limit := case when new.price = 0 then 0 else div(new.cost, new.price) end;
  end if;
  return new;
end $$;
create trigger mirror_relay_version before insert on relay_versions
  for each row execute function mirror_relay_version();

-- The transactions that may still be replaced. Budgets compute the cost of older ones from the former columns.
update relay_versions v set terms = jsonb_build_object('tip', v.tip::text), cost = v.gas_limit * v.price
from relay_sends s
where s.network = v.network and s.signer = v.signer and s.slot = v.slot and s.state = 'open';

create view sends as
  select network, signer, slot as nonce, kind, fencing, created_at, state, final_hash, lane, work_spent as gas_spent,
    coin_spent
  from relay_sends;
create view send_versions as
  select hash, network, signer, slot as nonce, bytes, price as max_fee, tip, gas_limit, created_at, broadcast_at
  from relay_versions;
create view send_items as
  select network, signer, slot as nonce, position, commitment from relay_items;
