-- Sealed subjects: contracts of later releases show 32 bytes in place of an id. Nodes of the version before leave the new
-- columns empty: their payments get the encrypted id of the newest key when their first item is made.
alter table payments
  -- The encrypted id, 16 bytes in hex, by the key in force when the payment was created. Null in rows of older versions.
  add column sealed_id text;

alter table items
  -- The 32 bytes that the chain shows, in hex. Null for the first releases of the contracts.
  add column seal text;

alter table outgoing
  -- Of the attempt under way, likewise.
  add column seal text;

-- Keys of seals under master secrets that were replaced, wrapped with the newest one. They open events of the past.
create table subject_keys (
  -- Names the key, and tells nothing about it.
  id text primary key,
  wrapped text not null,
  retired_at timestamptz not null
);
