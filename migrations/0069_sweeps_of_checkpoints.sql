-- Without a transaction: an index of a large table is built while payments move.
-- Expands: nodes of the version before write checkpoints without these columns. Such a checkpoint is not used any more.
--
-- The number of sweeps of the address in the blocks of the checkpoint. Dust before a sweep is not added to dust after it: the sweep
-- would take money that had not come yet.
alter table place_checkpoints add column if not exists sweeps bigint not null default 0;
-- The time `up_to` for which the number holds. A node of the version before moves `up_to` alone.
alter table place_checkpoints add column if not exists sweeps_up_to timestamptz;
drop index concurrently if exists chain_events_sweeps;
create index concurrently chain_events_sweeps on chain_events (network, commitment, block_number, log_index) where type = 'swept';
