-- What the gateway knew of a network or a token when it used it first, and every change that an operator has accepted since. The
-- newest row of a subject counts. Nodes of the version before neither read nor write it.
create table known_records (
  id bigint generated always as identity primary key,
  -- CAIP-2 of a network, CAIP-19 of an asset.
  subject text not null,
  facts jsonb not null,
  at timestamptz not null
);
create index known_records_by_subject on known_records (subject, id);
create trigger known_records_append_only before update or delete or truncate on known_records
  for each statement execute function refuse_change();

-- The hashes of the records that a node has read, by network. Null: a node of the version before, which does not say.
alter table nodes add column records jsonb;
