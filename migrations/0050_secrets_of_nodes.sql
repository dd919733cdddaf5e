-- The names of the master secrets that a node has, the newest first. Null: a node of the version before, which does not say.
alter table nodes add column secret_ids text[];
