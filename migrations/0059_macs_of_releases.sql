-- The release of an address decides whether money of senders on the screening list is swept, so it carries a MAC. A release without
-- one has no effect: the operator repeats the command.
alter table deposit_places
  add column release_mac text;
