-- Anybody may send any number of tiny transfers to an address. A checkpoint has the first of them added up, so that a look at the
-- address reads only those that came later. It follows from the movements alone: every row may be deleted at any time.
create table place_checkpoints (
  network text not null,
  commitment text not null,
  payment_id text not null references payments,
  -- All movements of blocks up to this time are proved, and contained.
  up_to timestamptz not null,
  -- The highest of their blocks.
  block_number bigint not null,
  -- The limits of dust by which they were added up, by asset.
  dust_below jsonb not null,
  -- The first movement of each sum, by transaction and index, with the units of the sum.
  sums jsonb not null,
  primary key (network, commitment),
  foreign key (network, commitment) references deposit_places on delete cascade
);
create index place_checkpoints_of_payment on place_checkpoints (payment_id);

-- The movements of a payment are read by its places. Rows of older versions may lack one; nobody has proved them.
alter table movements add constraint movements_of_a_place
  foreign key (network, commitment) references deposit_places not valid;

-- Whoever changes a movement, a node of an older version included: a checkpoint that contains it, or should contain it, goes. The
-- row of the place lets one transaction at a time change its movements or write its checkpoint, so neither misses the other.
create function end_checkpoints() returns trigger language plpgsql as $$
declare
  place record;
begin
  for place in
    select network, commitment, min(at) as since from changed group by network, commitment order by network, commitment
  loop
    perform from deposit_places where network = place.network and commitment = place.commitment for no key update;
    delete from place_checkpoints
    where network = place.network and commitment = place.commitment and up_to >= place.since;
  end loop;
  return null;
end $$;
create trigger checkpoints_end_with_new after insert on movements
  referencing new table as changed for each statement execute function end_checkpoints();
create trigger checkpoints_end_with_deleted after delete on movements
  referencing old table as changed for each statement execute function end_checkpoints();
create trigger checkpoints_end_with_replaced after update on movements
  referencing old table as changed for each statement execute function end_checkpoints();
create trigger checkpoints_end_with_changed after update on movements
  referencing new table as changed for each statement execute function end_checkpoints();
