-- Every change of a destination, of each merchant and asset, with the destination in force from then on. The last one is in
-- force again while its successor cools off, so that no way of removing a destination is a way around the cooling-off period.
-- Rows carry a MAC, and nobody can change or delete them. `removed_destinations` is left to nodes of the version before.
create table destination_history (
  merchant_id text not null references merchants,
  asset_key text not null,
  number bigint not null,
  destination text,  -- null: an operator has removed a thief's destination, and the next one counts as the first
  held_from timestamptz,
  mac text not null,
  at timestamptz not null,
  primary key (merchant_id, asset_key, number, mac),
  check ((destination is null) = (held_from is null))
);
create trigger destination_history_append_only before update or delete or truncate on destination_history
  for each statement execute function refuse_change();

-- The last change of a destination. An older copy of its row, put back by somebody, has another number and is not believed.
-- Null: written by an older version.
alter table crypto_settlements add column number bigint;

-- Without a MAC: the first start of this version appends rows with one, once.
insert into destination_history (merchant_id, asset_key, number, destination, held_from, mac, at)
select merchant_id, asset_key, 0, destination, held_from, '', updated_at from crypto_settlements
union all
select merchant_id, asset_key, 0, destination, held_from, '', removed_at from removed_destinations r
where not exists (select from crypto_settlements c where c.merchant_id = r.merchant_id and c.asset_key = r.asset_key);
