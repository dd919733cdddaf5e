-- An operator may let money of senders on the screening list be swept together with other money of its address. Nodes of the version
-- before leave such an address as it is, and the next node of this version orders the sweep.
alter table deposit_places
  -- True once an operator has decided so.
  add column is_released boolean not null default false;
