-- Expands: nodes of the version before write checkpoints without sweeps, which count as outdated once the address was swept.
--
-- The number of sweeps of the address in the blocks of the checkpoint. Dust before a sweep is not added to dust after it: the sweep
-- would take money that had not come yet.
alter table place_checkpoints add column sweeps bigint not null default 0;
delete from place_checkpoints;
